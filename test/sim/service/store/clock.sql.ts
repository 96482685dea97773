import type * as real from '../../../../services/executions/src/store/clock.sql';
import { databaseOf, statement } from './access';

export const readNowMs: typeof real.readNowMs = async (db) => {
  await statement(db);
  return databaseOf(db).nowMs();
};
