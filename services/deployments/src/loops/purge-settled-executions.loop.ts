import type { Db } from '@baton/postgres';
import { forgetSettledExecutions } from '../commands/forget-old';
import type { DB } from '../store/tables.gen';

const INTERVAL_MS = 600_000;
const KEEP_MS = 24 * 3_600_000;

/** Deletes the state sequence numbers of ended executions, a day after their end; at most 5,000 a tick. */
export function purgeSettledExecutionsLoop(deps: { db: Db<DB> }) {
  return {
    name: 'purge-settled-executions',
    intervalMs: INTERVAL_MS,
    tickOnce: () => forgetSettledExecutions(deps.db, KEEP_MS),
  };
}
