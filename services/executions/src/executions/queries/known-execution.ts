import type { Db } from '@baton/postgres';
import type { DB } from '../../store/tables.gen';
import { readExecution, type TimedExecution } from '../store/executions.sql';

/** Returns an execution by its id, without a check of visibility; null: it does not exist. For callers that need no such check. */
export const knownExecution = (db: Db<DB>['query'], id: string): Promise<TimedExecution | null> =>
  readExecution(db, id);
