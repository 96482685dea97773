import type { AnyQuery } from '@baton/postgres';
import { sql } from 'kysely';
import { isSystemWide } from '../domain/system-workflows';
import type { QueueRules } from '../engine/deps';
import type { TimedExecution } from '../store/executions.sql';
import { countAtWork } from '../store/queue.sql';

export interface WaitReason {
  kind: string;
  message: string;
  since: string | null;
  until: string | null;
  details: Record<string, unknown>;
}

const reason = (kind: string, message: string, more: Partial<WaitReason> = {}): WaitReason => ({
  kind,
  message,
  since: null,
  until: null,
  details: {},
  ...more,
});

/** What an execution waits for, since when and until when; nothing when it has ended for good. */
export async function explainExecution(
  db: AnyQuery,
  execution: TimedExecution,
  queue: QueueRules,
): Promise<WaitReason[]> {
  switch (execution.phase) {
    case 'ended':
      return execution.resume_wish === null
        ? []
        : [
            reason('queue', `it is resumed when its group ${execution.execution_group_id} has room`, {
              since: execution.ended_at,
            }),
          ];
    case 'planning':
      return [reason('planning', 'its next stage is being planned', { since: execution.created_at })];
    case 'calling':
      return [
        reason('call', `the stage ${execution.stage?.name} changes the model`, {
          since: execution.started_at,
        }),
      ];
    case 'awaiting':
      return await explainNested(db, execution);
    case 'ending':
      return [
        reason('effects', 'its last node-instance states are being delivered', {
          since: execution.started_at,
        }),
      ];
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
      return await explainRunning(db, execution);
  }
}

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
  return [...held, ...(await explainPlace(db, execution, held.length > 0))];
}

/** What is before it: on its deployment, or system-wide. */
async function explainPlace(db: AnyQuery, execution: TimedExecution, isHeld: boolean): Promise<WaitReason[]> {
  const isExclusive = isSystemWide(execution);
  const { rows } = await sql<{ id: string; workflow_id: string; status: string; created_at: string }>`
    select id, workflow_id, status, created_at from executions
    where phase <> 'ended' and id <> ${execution.id} and created_at <= ${execution.created_at}
      and ((tenant = ${execution.tenant} and deployment_id = ${execution.deployment_id})
        or (is_system_workflow and deployment_id is null) or (${isExclusive} and phase <> 'waiting'))
    order by created_at limit 20`.execute(db);
  if (rows.length === 0)
    return isHeld
      ? []
      : [reason('queue', 'it starts with the next look at the queue', { since: execution.created_at })];
  return rows.map((row) =>
    reason(
      row.status === 'queued' ? 'queue' : 'lock',
      `execution ${row.id} (${row.workflow_id}) is ${row.status}`,
      {
        since: execution.created_at,
        details: { execution_id: row.id, workflow_id: row.workflow_id, status: row.status },
      },
    ),
  );
}

/** The executions that it has started and waits for; `until` is the limit after which it goes on without them. */
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

async function explainRunning(db: AnyQuery, execution: TimedExecution): Promise<WaitReason[]> {
  const { rows } = await sql<{
    id: string;
    name: string;
    state: string;
    operation: string | null;
    instance: string | null;
    worker_id: string | null;
    lease_until: string | null;
    dispatched_at: string | null;
    not_before: number | null;
    retries: number;
    last_seen: string | null;
  }>`
    select t.id, t.spec->>'name' as name, t.state, t.spec->'payload'->>'operation' as operation,
      t.spec->'payload'->>'nodeInstanceId' as instance, t.worker_id, t.lease_until, t.dispatched_at, t.not_before, t.retries,
      w.last_seen
    from tasks t left join workers w on w.id = t.worker_id
    where t.graph_id = ${execution.graph_id} and t.spec->>'kind' = 'operation'
      and (t.state in ('sent', 'started') or (t.state = 'pending' and t.not_before is not null))
    order by t.dispatched_at nulls last limit 100`.execute(db);
  return rows.map((row) => {
    const what = row.operation
      ? `${row.operation} of ${row.instance}`
      : `the code of the workflow (${row.name})`;
    const details = {
      operation_id: row.id,
      worker: row.worker_id,
      retries: row.retries,
      worker_last_seen: row.last_seen,
    };
    if (row.state === 'pending') {
      const until = new Date(row.not_before!).toISOString();
      return reason('retry-timer', `${what} is tried again`, { until, details });
    }
    if (row.worker_id === null)
      return reason('worker', `${what} waits for a worker with room`, { since: row.dispatched_at, details });
    return reason('lease', `${what} runs on worker ${row.worker_id}`, {
      since: row.dispatched_at,
      until: row.lease_until,
      details,
    });
  });
}
