/** The revoked workers: every replica learns of a revocation within a second, and each call is checked against memory. */
import { AppError } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { Caller } from '@baton/trust';
import type { DB } from '../store/tables.gen';
import { endLeasesOf, revokedWorkers } from './store/workers.sql';

export interface WorkerRegistry {
  /** @throws AppError unauthorized_error for a worker that was revoked */
  requireGood(caller: Caller | undefined): void;
  /** Reads the revoked workers and ends their leases; runs on every replica, each second. */
  refresh(): Promise<void>;
}

export function createWorkerRegistry(db: Db<DB>): WorkerRegistry {
  let revoked = new Set<string>();
  return {
    requireGood(caller) {
      if (caller?.name === 'worker' && revoked.has(caller.workerId))
        throw new AppError('unauthorized_error', `The worker ${caller.workerId} was revoked`);
    },
    async refresh() {
      const ids = await revokedWorkers(db.query);
      const news = ids.filter((id) => !revoked.has(id));
      revoked = new Set(ids);
      // Crash before this: another replica, or this one after its start, also finds them as newly revoked.
      if (news.length > 0) await endLeasesOf(db.query, news);
    },
  };
}
