import { isoInstant } from '@baton/kernel';
import type { AnyQuery } from '@baton/postgres';
import type { Deferral } from '@baton/task-graph';
import { sql } from 'kysely';
import type { AgentLimits, QueueRules } from '../../ports';
import { isAwaited } from '../../store/waiting-task';
import type { TimedExecution } from '../store/executions.sql';
import { reason, type WaitReason } from './wait-reason';
import { isShareFull, type WorkerRoom, workerRoom } from './worker-room';

interface InFlight {
  id: string;
  name: string;
  state: string;
  operation: string | null;
  instance: string | null;
  worker_id: string | null;
  lease_until: string | null;
  dispatched_at: string | null;
  created_at: string;
  not_before: number | null;
  retries: number;
  deferral: Deferral | null;
  awaited_status: string | null;
  awaited_workflow: string | null;
  awaited_deployment: string | null;
  last_seen: string | null;
  isolation: string | null;
  agent: string | null;
  agent_name: string | null;
  agent_seen: string | null;
}

/** Returns a reason for each open operation of the running graph: what it waits for, or which worker runs it. */
export async function explainRunning(
  db: AnyQuery,
  execution: TimedExecution,
  queue: Pick<QueueRules, 'weights'>,
  agents: AgentLimits | null,
): Promise<WaitReason[]> {
  const { rows } = await sql<InFlight>`
    select t.id, t.spec->>'name' as name, t.state, t.spec->'payload'->>'operation' as operation,
      t.spec->'payload'->>'nodeInstanceId' as instance, t.worker_id, t.lease_until, t.dispatched_at, t.created_at,
      t.not_before, t.retries, t.deferral, t.agent, t.spec->'payload'->>'agentName' as agent_name, a.last_seen as agent_seen, w.last_seen, w.about->'isolation'->>'name' as isolation, c.status as awaited_status, c.workflow_id as awaited_workflow,
      c.deployment_id as awaited_deployment
    from tasks t left join workers w on w.id = t.worker_id left join workers a on a.id = 'agent:' || t.agent
    left join executions c on ${isAwaited} and c.tenant = ${execution.tenant}
    where t.graph_id = ${execution.graph_id} and t.spec->>'kind' = 'operation'
      and (t.state in ('sent', 'started') or (t.state = 'pending' and t.not_before is not null))
    order by t.dispatched_at nulls last limit 100`.execute(db);
  const isUnclaimed = rows.some(
    (row) => row.state !== 'pending' && row.worker_id === null && row.agent === null,
  );
  const workers = isUnclaimed ? await workerRoom(db, execution.tenant) : null;
  const of = { tenant: execution.tenant, weight: queue.weights()[execution.tenant] ?? null };
  return rows.map((row) => explainOperation(row, of, workers, agents));
}

/** A tenant with its weight in the share of places; null: the weight comes from the configuration of the workers. */
interface Sharer {
  tenant: string;
  weight: number | null;
}

function explainOperation(
  row: InFlight,
  of: Sharer,
  workers: WorkerRoom | null,
  agents: AgentLimits | null,
): WaitReason {
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
    if (row.deferral !== null) return explainDeferred(row, row.deferral, what, until);
    // A retry is a row of its own, made when it was decided.
    return reason('retry-timer', `${what} is tried again`, { since: row.created_at, until, details });
  }
  if (row.worker_id !== null)
    return reason(
      'lease',
      `${what} runs on worker ${row.worker_id}${row.isolation === 'none' ? ', without isolation' : ''}`,
      {
        since: row.dispatched_at,
        until: row.lease_until,
        details: { ...details, isolation: row.isolation },
      },
    );
  if (row.agent !== null) return explainAgent(row, row.agent, what, agents);
  return explainUnclaimed(row, what, of, workers!);
}

/** Returns that the operation waits for its agent; it fails at `until`. */
function explainAgent(row: InFlight, agent: string, what: string, agents: AgentLimits | null): WaitReason {
  const host = agent.slice(agent.indexOf('/') + 1);
  const name = row.agent_name ?? host;
  const seen =
    row.agent_seen === null ? 'has never connected' : `last asked for operations at ${row.agent_seen}`;
  return reason('agent', `${what} waits for the agent ${name} of host ${host}, which ${seen}`, {
    since: row.dispatched_at,
    until: row.dispatched_at && agents && isoInstant(Date.parse(row.dispatched_at) + agents.waitMs),
    details: {
      operation_id: row.id,
      agent: name,
      host,
      retries: row.retries,
      agent_last_seen: row.agent_seen,
    },
  });
}

/** Returns why no worker has the operation yet: none can run it, its tenant's share is used up, or no worker has room. */
function explainUnclaimed(row: InFlight, what: string, of: Sharer, workers: WorkerRoom): WaitReason {
  const { tenant, weight } = of;
  const { alive, lastSeen, places, reserve, held, heldByOthers, otherTenants, handlersErrors } = workers;
  const since = row.dispatched_at;
  const details = {
    operation_id: row.id,
    worker: row.worker_id,
    retries: row.retries,
    workers: alive,
    worker_last_seen: lastSeen,
  };
  const [broken] = handlersErrors;
  if (broken && handlersErrors.length === alive)
    return reason(
      'handlers',
      `${what} waits for a worker that can run it: ${broken.worker} says ${broken.error}`,
      {
        since,
        details: { ...details, handlers_errors: handlersErrors },
      },
    );
  if (isShareFull(workers)) {
    const others = otherTenants === 0 ? '' : `, ${otherTenants} other tenants hold ${heldByOthers}`;
    const message =
      `${what} waits for a place: tenant ${tenant}${weight === null ? '' : ` (weight ${weight})`} holds ${held} of ${places}${others}; ` +
      `${reserve} are kept for tenants that hold less than their share`;
    const share = { tenant, weight, places, reserve, held, held_by_others: heldByOthers };
    return reason('share', message, { since, details: { ...details, ...share } });
  }
  return reason('worker', `${what} waits for a worker${whyNoWorker(workers)}`, { since, details });
}

/** `until`: latest time of the operation's next look. */
function explainDeferred(row: InFlight, deferral: Deferral, what: string, until: string): WaitReason {
  const { untilExecution: id, message } = deferral;
  const { awaited_workflow: workflow_id, awaited_deployment: deployment_id, awaited_status: status } = row;
  const since = isoInstant(deferral.since);
  const details = { operation_id: row.id, waits_for: message };
  if (id === null) return reason('deferred', `${what} waits: ${message}`, { since, until, details });
  const how =
    status === null
      ? `execution ${id}, which does not exist`
      : `execution ${id} (${workflow_id} of ${deployment_id}), which is ${status}`;
  return reason('deferred', `${what} waits for ${how}`, {
    since,
    until,
    details: { ...details, execution_id: id, workflow_id, deployment_id, status },
  });
}

function whyNoWorker({ alive, lastSeen }: WorkerRoom): string {
  if (alive > 0) return ` with room, ${alive} report${alive === 1 ? 's' : ''}`;
  return lastSeen === null ? ', none has ever reported' : `, none reports since ${lastSeen}`;
}
