import type { Db } from '@baton/postgres';
import { forgetGroupRequests } from '../commands/forget-old';
import type { DB } from '../store/tables.gen';

const INTERVAL_MS = 600_000;
/** How long an idempotency key of a group request is stored. */
const KEEP_MS = 24 * 3_600_000;

/** Deletes idempotency keys of requests on groups; at most 500 a tick. */
export function purgeGroupRequestsLoop(deps: { db: Db<DB> }) {
  return {
    name: 'purge-group-requests',
    intervalMs: INTERVAL_MS,
    tickOnce: () => forgetGroupRequests(deps.db, KEEP_MS),
  };
}
