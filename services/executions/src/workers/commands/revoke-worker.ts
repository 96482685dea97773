import type { Ports } from '../../ports';
import { markRevoked } from '../store/workers.sql';
import type { WorkerRegistry } from '../worker-registry';

/**
 * Revokes the credential of a worker. This replica refuses it from now on, other replicas within a second; other services refuse
 * it when its certificate ends, at most 65 s later. Its operations go to other workers. False when there is no such worker. May
 * be repeated. Crash after the commit: every replica reads the revoked workers and ends their leases (worker-registry.ts).
 */
export async function revokeWorker(
  { db, registry }: Pick<Ports, 'db'> & { registry: WorkerRegistry },
  workerId: string,
): Promise<boolean> {
  const isThere = await db.tx((tx) => markRevoked(tx, workerId));
  if (isThere) await registry.refresh();
  return isThere;
}
