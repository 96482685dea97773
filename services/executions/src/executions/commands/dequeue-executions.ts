import { executionRequested } from '@baton/contracts';
import { outbox, type Tx } from '@baton/postgres';
import { type ResumeGroupMembersDeps, resumeGroupMembers } from '../../groups/commands/resume-group-members';
import { startGroupMembers } from '../../groups/commands/start-group-members';
import { groupsWithRoom } from '../../groups/store/execution-groups.sql';
import type { Ports } from '../../ports';
import type { ExecutionRow } from '../../store/rows';
import type { DB } from '../../store/tables.gen';
import { admit } from '../domain/admission';
import { isUnderQuota, noQuota } from '../domain/quota';
import { requestedOf } from '../domain/requested';
import { isSystemWide } from '../domain/system-workflows';
import { lookAgain, passedIn, passOver } from '../passed-over';
import { activeOfDeployment, lockExecution, lockGuard, updateExecution } from '../store/executions.sql';
import { leftRuns } from '../store/left-runs.sql';
import {
  anythingWaiting,
  blockingSystemExecutions,
  countAtWork,
  executionsAtWork,
  isAwaitedByOther,
  lockDequeue,
  lockStarts,
  queueHeads,
} from '../store/queue.sql';
import { fullTenants, isRunningFull, lockQuota } from '../store/quotas.sql';
import { type CheckQueuedDeps, checkMembersAgain, failQueued, refusalOf } from './check-queued';
import { openTo } from './open-to';

export type DequeueExecutionsDeps = Pick<Ports, 'db' | 'passedOver' | 'queue' | 'wake'> &
  CheckQueuedDeps &
  ResumeGroupMembersDeps;

/** Executions checked in one round, and rounds in one call (reference/rest-api.md 6.3). */
const ROUND = 5;
const MAX_ROUNDS = 5;
/** Execution groups checked in one call. */
const BATCH = 20;
/** The names of the queues. */
const QUEUE = 'executions';
const GROUPS = 'groups';

/**
 * Starts queued executions that nothing blocks any more, oldest first: one per deployment, a system-wide one alone, and at most
 * `max_concurrent_workflows` of the manager at once. Nothing starts in maintenance. Each execution is checked again first: one that
 * has become impossible while it waited ends as failed. Every replica may do this, one at a time.
 * @returns the number of started executions.
 */
export async function dequeueExecutions(deps: DequeueExecutionsDeps): Promise<number> {
  let started = 0;
  const waiting = await anythingWaiting(deps.db);
  // An execution that cannot be checked now, for example on a broken deployment, must not hold up those behind it.
  const passed = () => passedIn(deps.passedOver, QUEUE);
  for (let round = 0; waiting.queue && round < MAX_ROUNDS && !deps.queue.isPaused(); round++) {
    let moved = 0;
    const before = passed().size;
    const full = await fullOf(deps);
    for (const candidate of await queueHeads(deps.db.query, ROUND, [...passed()], full)) {
      const refusal = await refusalOf(deps, candidate);
      if (refusal === 'later') {
        passOver(deps.passedOver, QUEUE, candidate.id);
        continue;
      }
      const isMoved = await deps.db.tx((tx) =>
        refusal === null ? tryStart(tx, deps, candidate) : failQueued(tx, candidate.id, refusal.error),
      );
      if (!isMoved) continue;
      moved++;
      if (refusal === null) started++;
      deps.wake.drive(candidate.id);
    }
    if (moved > 0 || passed().size > before) continue;
    lookAgain(deps.passedOver, QUEUE);
    break;
  }
  return waiting.groups ? started + (await dequeueGroups(deps)) : started;
}

/** Starts and resumes members of execution groups, as far as their groups and the manager have room. */
async function dequeueGroups(deps: DequeueExecutionsDeps): Promise<number> {
  let count = 0;
  if (deps.queue.isPaused()) return 0;
  const which = await openTo(deps.db.query);
  if (which === 'nothing') return 0;
  const except = [...passedIn(deps.passedOver, GROUPS)];
  const groups = await groupsWithRoom(deps.db.query, BATCH, which, { except, full: await fullOf(deps) });
  if (groups.length < BATCH) lookAgain(deps.passedOver, GROUPS);
  for (const group of groups) {
    const { count: resumed, areAllTried } = await resumeGroupMembers(deps, group);
    const { passed, areAllPassed } = await checkMembersAgain(deps, group, which);
    const started = await deps.db.tx((tx) => startGroupMembers(tx, deps, group.tenant, group.id, passed));
    for (const one of started) deps.wake.drive(one);
    count += resumed + started.length;
    if (!(areAllPassed && areAllTried) && groups.length === BATCH)
      passOver(deps.passedOver, GROUPS, `${group.tenant}/${group.id}`);
  }
  return count;
}

/** Returns the tenants whose quota allows no further start; their queued executions must not hold up those of other tenants. */
const fullOf = async ({ db, queue }: DequeueExecutionsDeps): Promise<string[]> =>
  queue.isRunningLimited() ? await fullTenants(db.query, (tenant) => queue.quota(tenant).running) : [];

async function tryStart(tx: Tx<DB>, deps: DequeueExecutionsDeps, candidate: ExecutionRow): Promise<boolean> {
  const { tenant, parent_id: parentId, is_system_workflow: isSystemWorkflow } = candidate;
  const quota = isUnderQuota({ parentId, isSystemWorkflow }) ? deps.queue.quota(tenant) : noQuota;
  await lockDequeue(tx);
  await lockQuota(tx, tenant, quota);
  await lockStarts(tx, isSystemWide(candidate));
  // System-wide executions share one guard row.
  if (candidate.deployment_id === null) await lockGuard(tx, '', '');
  else await lockGuard(tx, candidate.tenant, candidate.deployment_id);
  const queued = await lockExecution(tx, candidate.id);
  if (queued?.status !== 'queued') return false;
  if ((await countAtWork(tx)) >= deps.queue.maxConcurrent()) return false;
  if (!(await isAdmitted(tx, candidate))) return false;
  // An execution that another one waits for may exceed the quota: the waiting one has a place already.
  if ((await isRunningFull(tx, tenant, quota)) && !(await isAwaitedByOther(tx, candidate.id))) return false;
  await updateExecution(tx, candidate.id, { status: 'pending', phase: 'planning' });
  await outbox.append(
    tx,
    executionRequested,
    { tenant: candidate.tenant, key: candidate.id },
    requestedOf(queued),
  );
  return true;
}

async function isAdmitted(tx: Tx<DB>, candidate: ExecutionRow): Promise<boolean> {
  const all = await blockingSystemExecutions(tx);
  const isAwaited = await isAwaitedByOther(tx, candidate.id);
  const systemWide = (isAwaited && all.length > 0 ? await blockingSystemExecutions(tx, true) : all)
    .map((row) => row.id)
    .filter((id) => id !== candidate.id);
  const others =
    candidate.deployment_id === null
      ? []
      : await activeOfDeployment(tx, candidate.tenant, candidate.deployment_id);
  // Active executions block, and so do those that were queued earlier, unless another execution waits for this one.
  const ofDeployment = others.filter(
    (row) =>
      row.id !== candidate.id && (row.phase !== 'waiting' || (!isAwaited && isEarlier(row, candidate))),
  );
  const left =
    candidate.deployment_id === null
      ? []
      : await leftRuns(tx, candidate.tenant, candidate.deployment_id, candidate.id);
  const atWork = isSystemWide(candidate) ? await executionsAtWork(tx, candidate.id) : [];
  const request = { isForced: candidate.is_forced, mayQueue: true, isSystemWide: isSystemWide(candidate) };
  const facts = { systemWide, ofDeployment, leftRuns: left, atWork, isQuotaReached: false };
  return admit(request, facts).kind === 'start';
}

function isEarlier(row: ExecutionRow, than: ExecutionRow): boolean {
  if (row.status !== 'queued') return false;
  return row.created_at < than.created_at || (row.created_at === than.created_at && row.id < than.id);
}
