import type * as real from '../../../../services/executions/src/engine/store/work.sql';
import { statement } from './access';

/** The graphs of the simulation contain no code. */
export const codeMapping: typeof real.codeMapping = async (tx) => {
  await statement(tx);
  return null;
};
