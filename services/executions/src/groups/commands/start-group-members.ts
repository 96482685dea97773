import { executionRequested } from '@baton/contracts';
import { outbox, outgoing, type Tx } from '@baton/postgres';
import { openTo } from '../../executions/commands/open-to';
import { type ExecutionQuota, isUnderQuota } from '../../executions/domain/quota';
import { requestedOf } from '../../executions/domain/requested';
import { countAtWork, isAwaitedByOther, lockDequeue, lockStarts } from '../../executions/store/queue.sql';
import { countRunning, lockQuota } from '../../executions/store/quotas.sql';
import type { Ports } from '../../ports';
import type { ExecutionRow } from '../../store/rows';
import type { DB } from '../../store/tables.gen';
import {
  hasQueuedMembers,
  lockGroup,
  lockGuards,
  startableMembers,
  startMembers,
  updateGroup,
} from '../store/execution-groups.sql';

/**
 * Starts queued members of a group up to its concurrency and the manager's `max_concurrent_workflows`: queued -> pending with the
 * durable wake-up. The lock of the group's row serializes starters on any number of replicas; the guards serialize them with
 * single starts on the same deployments. Returns the started executions, which the caller drives after the commit. `among`:
 * members that were checked again; null: all members have been checked just now.
 */
export async function startGroupMembers(
  tx: Tx<DB>,
  deps: Pick<Ports, 'queue'>,
  tenant: string,
  groupId: string,
  among: readonly string[] | null = null,
): Promise<string[]> {
  if (deps.queue.isPaused()) return [];
  const quota = deps.queue.quota(tenant);
  await lockDequeue(tx);
  await lockQuota(tx, tenant, quota);
  await lockStarts(tx, false);
  const group = await lockGroup(tx, tenant, groupId);
  if (!group?.has_queued || group.concurrency === 0) return [];
  const which = await openTo(tx);
  if (which === 'nothing') return [];
  const room = deps.queue.maxConcurrent() - (await countAtWork(tx));
  if (room <= 0) return [];
  const candidates = await startableMembers(tx, group, room, { which, among });
  if (candidates.length === 0) {
    // Queued members may wait for other executions of their deployment, or for room: then the mark stays.
    if (!(await hasQueuedMembers(tx, tenant, groupId)))
      await updateGroup(tx, tenant, groupId, { has_queued: false });
    return [];
  }
  const chosen = await withinQuota(tx, tenant, quota, oneEach(candidates));
  if (chosen.length === 0) return [];
  await lockGuards(
    tx,
    tenant,
    chosen.map((candidate) => candidate.deployment_id ?? ''),
  );
  const started = await startMembers(
    tx,
    chosen.map((candidate) => candidate.id),
    which,
  );
  await outbox.appendAll(
    tx,
    started.map((row) => outgoing(executionRequested, { tenant, key: row.id }, requestedOf(row))),
  );
  return started.map((row) => row.id);
}

/** Returns the oldest members that fit the quota of the tenant, and the members that the quota does not apply to. */
async function withinQuota(
  tx: Tx<DB>,
  tenant: string,
  { running: limit }: Readonly<ExecutionQuota>,
  members: readonly ExecutionRow[],
): Promise<ExecutionRow[]> {
  if (limit === null) return [...members];
  let room = limit - (await countRunning(tx, tenant, limit));
  const chosen: ExecutionRow[] = [];
  for (const member of members) {
    const { parent_id: parentId, is_system_workflow: isSystemWorkflow } = member;
    const isFree = !isUnderQuota({ parentId, isSystemWorkflow });
    if (isFree || room > 0 || (await isAwaitedByOther(tx, member.id))) chosen.push(member);
    if (!isFree) room--;
  }
  return chosen;
}

/** Returns the first member of each deployment, and all forced members: an awaited member may stand behind others of the group. */
function oneEach(members: readonly ExecutionRow[]): ExecutionRow[] {
  const taken = new Set<string | null>();
  return members.filter(({ is_forced, deployment_id }) => {
    if (is_forced || deployment_id === null) return true;
    const isFirst = !taken.has(deployment_id);
    taken.add(deployment_id);
    return isFirst;
  });
}
