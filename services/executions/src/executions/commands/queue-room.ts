import type { Tx } from '@baton/postgres';
import type { DB } from '../../store/tables.gen';
import { type ExecutionQuota, queueIsFull } from '../domain/quota';
import { countQueued } from '../store/quotas.sql';

/**
 * Checks, under the lock of the quota, that `further` more executions of the tenant may wait. With `further` = 0, executions that
 * this transaction has inserted are counted with the others.
 * @throws AppError too_many_requests_error
 */
export async function requireQueueRoom(
  tx: Tx<DB>,
  tenant: string,
  { queued: limit }: Readonly<ExecutionQuota>,
  further: number,
): Promise<void> {
  if (limit === null) return;
  const usage = await countQueued(tx, tenant, limit + 1);
  if (usage + further > limit) throw queueIsFull(tenant, limit, usage);
}
