import type { Ports } from '../../ports';
import { markRevoked } from '../store/workers.sql';
import type { WorkerRegistry } from '../worker-registry';

/**
 * Takes the credential of a worker back. This replica refuses it from now on, others within a second; other services when its
 * certificate ends, at most 65 s later. What it holds goes to others. False: there is no such worker. May be repeated.
 * Crash after the commit: every replica reads who was revoked, and lets the leases run out (worker-registry.ts).
 */
export async function revokeWorker(
  { db, registry }: Pick<Ports, 'db'> & { registry: WorkerRegistry },
  workerId: string,
): Promise<boolean> {
  const isThere = await db.tx((tx) => markRevoked(tx, workerId));
  if (isThere) await registry.refresh();
  return isThere;
}
