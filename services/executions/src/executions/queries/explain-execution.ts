import { type AnyQuery, outsideRequests } from '@baton/postgres';
import { sql } from 'kysely';
import type { AgentLimits, QueueRules } from '../../ports';
import { leftRunText } from '../domain/admission';
import { isUnderQuota } from '../domain/quota';
import { isCarriedOutElsewhere, isSystemWide, parallelSystemWorkflows } from '../domain/system-workflows';
import type { TimedExecution } from '../store/executions.sql';
import { leftRuns } from '../store/left-runs.sql';
import { countAtWork, isAwaitedByOther } from '../store/queue.sql';
import { tenantUsage } from '../store/quotas.sql';
import { explainRunning } from './explain-running';
import { reason, type WaitReason } from './wait-reason';

/**
 * Returns the reasons why an execution, which the caller may see, waits: for what, since when and until when. Empty when it has
 * ended for good. It may wait for work of other tenants. Without `agents` it is not told how long agents are waited for.
 */
export const explainExecution = (
  db: AnyQuery,
  execution: TimedExecution,
  queue: QueueRules,
  agents: AgentLimits | null = null,
): Promise<WaitReason[]> => outsideRequests(() => explain(db, execution, queue, agents));

async function explain(
  db: AnyQuery,
  execution: TimedExecution,
  queue: QueueRules,
  agents: AgentLimits | null,
): Promise<WaitReason[]> {
  const since = execution.cancel_requested_at ?? execution.started_at ?? execution.created_at;
  switch (execution.phase) {
    case 'ended':
      return [...explainEnded(execution), ...(await explainLeft(db, execution, { ofItself: true }))];
    case 'planning':
      return [reason('planning', 'its next stage is being planned', { since })];
    case 'calling':
      return [reason('call', `the stage ${execution.stage?.name} changes the model`, { since })];
    case 'awaiting':
      return await explainNested(db, execution);
    case 'ending':
      return [reason('effects', 'its last node-instance states are being delivered', { since })];
    case 'waiting':
      return execution.status === 'scheduled'
        ? [
            reason('schedule', 'it is scheduled', {
              since: execution.created_at,
              until: execution.scheduled_for,
            }),
          ]
        : await explainQueued(db, execution, queue);
    case 'running':
      return isCarriedOutElsewhere(execution)
        ? [reason('call', `${execution.workflow_id} is carried out by the service of its subject`, { since })]
        : [...explainCancel(execution), ...(await explainRunning(db, execution, queue, agents))];
  }
}

/** Returns the reason why an execution under a plain cancel has not ended yet. */
function explainCancel({
  status,
  cancel_requested_at: since,
  cancel_deadline: until,
}: TimedExecution): WaitReason[] {
  if (status !== 'cancelling' || until === null) return [];
  const message = `it is cancelled and starts nothing more; what runs may end until ${until}, then it is stopped (force-cancel stops it at once)`;
  return [reason('cancel', message, { since, until })];
}

/** Returns operations of ended executions that workers still run: of others on its deployment, which it waits for, or of itself. */
async function explainLeft(
  db: AnyQuery,
  { id, tenant, deployment_id, is_forced, created_at }: TimedExecution,
  { ofItself }: { ofItself: boolean },
): Promise<WaitReason[]> {
  if (deployment_id === null || (is_forced && !ofItself)) return [];
  const left = await leftRuns(db, tenant, deployment_id, ofItself ? null : id);
  return left
    .filter(({ execution_id }) => !ofItself || execution_id === id)
    .map((run) =>
      reason('left-run', leftRunText(run), {
        since: created_at,
        until: run.lease_until,
        details: {
          execution_id: run.execution_id,
          operation_id: run.task_id,
          operation: run.operation,
          node_instance_id: run.node_instance_id,
          worker: run.worker_id,
          is_being_stopped: run.is_stopping,
        },
      }),
    );
}

function explainEnded(execution: TimedExecution): WaitReason[] {
  const { resume_wish, wake_at, ended_at: since } = execution;
  const isOwed = wake_at !== null;
  return [
    ...(resume_wish === null ? [] : [resumedWithGroup(execution)]),
    ...(isOwed ? [reason('effects', 'its deployment has not heard yet that it has ended', { since })] : []),
  ];
}

function resumedWithGroup(execution: TimedExecution): WaitReason {
  return reason('queue', `it is resumed when its group ${execution.execution_group_id} has room`, {
    since: execution.ended_at,
  });
}

/** Returns what keeps it in the queue (reference/rest-api.md 6.3): the manager, its tenant, its group, and executions before it. */
async function explainQueued(
  db: AnyQuery,
  execution: TimedExecution,
  queue: QueueRules,
): Promise<WaitReason[]> {
  const since = execution.created_at;
  const held: WaitReason[] = [];
  if (queue.isPaused())
    held.push(reason('maintenance', 'the manager is in maintenance, nothing new starts', { since }));
  const [active, limit] = [await countAtWork(db), queue.maxConcurrent()];
  if (active >= limit)
    held.push(
      reason('concurrency', `${active} executions are at work, at most ${limit} may be`, {
        since,
        details: { active, limit },
      }),
    );
  held.push(...(await explainQuota(db, execution, queue)));
  held.push(...(await explainGroup(db, execution)), ...(await explainBlockers(db, execution)));
  held.push(...(await explainLeft(db, execution, { ofItself: false })));
  return held.length > 0 ? held : [await explainPlace(db, execution)];
}

/** Returns the reason when the quota of the tenant allows no further execution at work. */
async function explainQuota(
  db: AnyQuery,
  { id, tenant, parent_id: parentId, is_system_workflow: isSystemWorkflow, created_at }: TimedExecution,
  queue: QueueRules,
): Promise<WaitReason[]> {
  const { running: limit } = queue.quota(tenant);
  if (limit === null || !isUnderQuota({ parentId, isSystemWorkflow })) return [];
  // `running` may exceed the limit, because an awaited execution starts beyond it.
  const { running } = await tenantUsage(db, tenant);
  if (running < limit || (await isAwaitedByOther(db, id))) return [];
  const message = `${running} executions of tenant ${tenant} are at work, its quota allows ${limit} (max_running_executions)`;
  const details = { quota: 'max_running_executions', tenant, running, limit };
  return [reason('quota', message, { since: created_at, details })];
}

/** Returns the reason when the group has reached its concurrency: members start only up to it. */
async function explainGroup(db: AnyQuery, execution: TimedExecution): Promise<WaitReason[]> {
  const { tenant, execution_group_id: id } = execution;
  if (id === null) return [];
  const { rows } = await sql<{ concurrency: number; active: number }>`
    select g.concurrency, (select count(*)::int from executions a where a.tenant = g.tenant and a.execution_group_id = g.id
      and a.phase not in ('waiting', 'ended')) as active
    from execution_groups g where g.tenant = ${tenant} and g.id = ${id}`.execute(db);
  const group = rows[0];
  if (!group || group.active < group.concurrency) return [];
  const message =
    group.concurrency === 0
      ? `its execution group ${id} is paused (concurrency 0)`
      : `${group.active} executions of its group ${id} are at work, at most ${group.concurrency} may be`;
  const details = { execution_group_id: id, active: group.active, limit: group.concurrency };
  return [reason('concurrency', message, { since: execution.created_at, details })];
}

/** SQL for the place in the order of the queue, with the precision of the database. */
const placeOf = (id: string) => sql`(select x.created_at, x.id from executions x where x.id = ${id})`;

/**
 * Returns the executions that go first, by the rules of executions/domain/admission.ts: system-wide ones, and on its deployment
 * those at work or queued before it (unless it is forced); all executions at work when it is system-wide itself.
 */
async function explainBlockers(db: AnyQuery, execution: TimedExecution): Promise<WaitReason[]> {
  const { id, tenant, deployment_id, is_forced, parent_id, created_at } = execution;
  const isWide = isSystemWide(execution);
  const isParallel = sql`(e.deployment_id is null and e.workflow_id = any(${parallelSystemWorkflows}::text[]))`;
  const isEarlier = sql`(e.status = 'queued' and (e.created_at, e.id) < ${placeOf(id)})`;
  const { rows } = await sql<{ id: string; workflow_id: string; status: string }>`
    select e.id, e.workflow_id, e.status from executions e
    where e.phase <> 'ended' and e.id <> ${id} and not ${isParallel} and (
      (e.is_system_workflow and e.deployment_id is null and (e.phase <> 'waiting'
        or (${parent_id === null} and (not ${isWide} or ${isEarlier}))))
      or (not ${is_forced} and e.tenant = ${tenant} and e.deployment_id = ${deployment_id}
        and (e.phase <> 'waiting' or ${isEarlier}))
      or (${isWide} and e.phase <> 'waiting'))
    order by e.created_at, e.id limit 20`.execute(db);
  return rows.map((row) =>
    reason(
      row.status === 'queued' ? 'queue' : 'lock',
      `execution ${row.id} (${row.workflow_id}) is ${row.status}`,
      {
        since: created_at,
        details: { execution_id: row.id, workflow_id: row.workflow_id, status: row.status },
      },
    ),
  );
}

/** Returns the place in the queue of an execution that nothing blocks: only others of the whole queue are before it. */
async function explainPlace(db: AnyQuery, { id, created_at }: TimedExecution): Promise<WaitReason> {
  const { rows } = await sql<{ before: number }>`
    select count(*)::int as before from executions e where e.phase = 'waiting' and e.status = 'queued'
      and (e.created_at, e.id) < ${placeOf(id)}`.execute(db);
  const { before } = rows[0]!;
  const others = before === 0 ? '' : `, ${before} before it`;
  return reason('queue', `it starts with the next look at the queue${others}`, {
    since: created_at,
    details: { before },
  });
}

/** Returns the executions that it has started and waits for; `until` is the limit after which it goes on without them. */
async function explainNested(db: AnyQuery, execution: TimedExecution): Promise<WaitReason[]> {
  const { rows } = await sql<{
    id: string;
    workflow_id: string;
    deployment_id: string | null;
    status: string;
    created_at: string;
  }>`
    select id, workflow_id, deployment_id, status, created_at from executions
    where parent_id = ${execution.id} and (phase <> 'ended' or resume_wish is not null)
    order by phase = 'waiting', created_at, id limit 20`.execute(db);
  return rows.map(({ id, created_at, ...more }) =>
    reason('nested', `execution ${id} (${more.workflow_id} of ${more.deployment_id}) is ${more.status}`, {
      since: created_at,
      until: execution.wake_at,
      details: { execution_id: id, ...more },
    }),
  );
}
