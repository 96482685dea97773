import type { Db } from '@baton/postgres';
import type { DB } from '../../store/tables.gen';
import { readExecution, type TimedExecution } from '../store/executions.sql';

/** An execution by its id, whoever may see it; null: there is none. For callers that need not check who asks. */
export const knownExecution = (db: Db<DB>['query'], id: string): Promise<TimedExecution | null> =>
  readExecution(db, id);
