import type { Db } from '@baton/postgres';
import { purgeSettledExecutions } from '../store/settled-executions.sql';
import type { DB } from '../store/tables.gen';

const BATCH = 5_000;
const INTERVAL_MS = 600_000;
const KEEP_MS = 24 * 3_600_000;

/** Forgets how far ended executions had come, a day after their end; at most 5,000 a tick. */
export function purgeSettledExecutionsLoop(deps: { db: Db<DB> }) {
  return {
    name: 'purge-settled-executions',
    intervalMs: INTERVAL_MS,
    tickOnce: () => deps.db.tx((tx) => purgeSettledExecutions(tx, KEEP_MS, BATCH)),
  };
}
