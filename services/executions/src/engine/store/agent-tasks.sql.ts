import type { Db } from '@baton/postgres';
import { sql } from 'kysely';
import { behind, type Place, type Placed, placedAt } from '../../store/round.sql';
import type { DB } from '../../store/tables.gen';

type Query = Db<DB>['query'];

/** An open operation of an agent: one that it holds, or a ready one that nobody holds. */
export interface OpenAgentTask {
  id: string;
  execution_id: string;
  attempt: number;
  is_held: boolean;
  /** Whether its execution still wants it to begin. */
  is_wanted: boolean;
}

/** An agent that asks again and again is noted once in this time. */
const NOTED_EACH_S = 20;

/**
 * Returns the open operations of an agent, those that it holds first, then the ready ones, oldest first. It also notes that the
 * agent lives. One statement: every idle agent sends it again and again.
 */
export async function openTasksOf(
  db: Query,
  agent: { workerId: string; address: string; tenant: string },
  limit: number,
): Promise<OpenAgentTask[]> {
  const { workerId, address, tenant } = agent;
  const { rows } = await sql<OpenAgentTask>`
    with noted as (update workers set last_seen = app_now()
      where id = ${workerId} and last_seen < app_now() - make_interval(secs => ${NOTED_EACH_S}))
    select t.id, t.execution_id, t.attempt, t.worker_id is not null as is_held,
      e.phase = 'running' and e.graph_id = t.graph_id and e.cancel_requested_at is null and not t.is_kill_requested as is_wanted
    from tasks t join executions e on e.id = t.execution_id
    where t.agent = ${address} and t.state in ('sent', 'started') and e.tenant = ${tenant}
      and (t.worker_id = ${workerId} or (t.worker_id is null and t.state = 'sent' and e.phase = 'running'))
    order by t.worker_id is null, t.dispatched_at, t.id limit ${limit}`.execute(db);
  return rows;
}

/** Returns whether an execution has an open operation of this agent. */
export async function hasOpenTask(db: Query, address: string, executionId: string): Promise<boolean> {
  const { rows } = await sql`
    select from tasks where agent = ${address} and execution_id = ${executionId} and state in ('sent', 'started') limit 1`.execute(
    db,
  );
  return rows.length > 0;
}

/** Returns those of the tasks that are open operations of this agent, with their executions. */
export async function openAmong(
  db: Query,
  address: string,
  taskIds: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await sql<{ id: string; execution_id: string }>`
    select id, execution_id from tasks
    where id = any(${[...taskIds]}::uuid[]) and agent = ${address} and state in ('sent', 'started')`.execute(
    db,
  );
  return new Map(rows.map((row) => [row.id, row.execution_id]));
}

/**
 * Returns a ready operation of each agent and execution that nobody has claimed for `olderThanMs`, oldest first. Agents of other
 * tenants are left out: they can never claim.
 */
export async function unheardAgentTasks(
  db: Query,
  olderThanMs: number,
  limit: number,
): Promise<{ id: string; execution_id: string; tenant: string; agent: string }[]> {
  const { rows } = await sql<{ id: string; execution_id: string; tenant: string; agent: string }>`
    select min(t.id::text) as id, t.execution_id, e.tenant, t.agent
    from tasks t join executions e on e.graph_id = t.graph_id
    where t.agent is not null and t.state = 'sent' and t.worker_id is null and starts_with(t.agent, e.tenant || '/')
      and e.phase = 'running' and t.dispatched_at < app_now() - make_interval(secs => ${olderThanMs / 1000})
    group by t.execution_id, e.tenant, t.agent order by min(t.dispatched_at) limit ${limit}`.execute(db);
  return rows;
}

/** Ends the leases of operations that an agent took before an instant; returns their number. The reaper takes them back. */
export async function endLeasesOf(db: Query, address: string, before: string): Promise<number> {
  const { numAffectedRows } = await sql`
    update tasks set lease_until = app_now() where agent = ${address} and worker_id is not null
      and state in ('sent', 'started') and lease_until > app_now() and coalesce(started_at, dispatched_at) <= ${before}`.execute(
    db,
  );
  return Number(numAffectedRows ?? 0);
}

/** A ready operation whose agent has not come for it. */
export type AwaitedAgentTask = Placed & {
  execution_id: string;
  idx: number;
  attempt: number;
  tenant: string;
  agent: string;
  agent_name: string | null;
  host_id: string | null;
  /** When the agent last asked for operations; ISO instant, null: it has never connected. */
  last_seen: string | null;
};

/**
 * Returns ready operations that their agents have not claimed for `waitMs`, and those of agents of other tenants, which can never
 * claim them. Executions that are being cancelled are left out: the cancel takes their operations back.
 */
export async function unmetAgentTasks(
  db: Query,
  waitMs: number,
  limit: number,
  place: Place | null,
): Promise<AwaitedAgentTask[]> {
  const { rows } = await sql<AwaitedAgentTask>`
    select t.id, t.execution_id, t.idx, t.attempt, e.tenant, t.agent, t.spec->'payload'->>'agentName' as agent_name,
      t.spec->'payload'->>'hostId' as host_id,
      to_char(w.last_seen at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as last_seen, ${placedAt(sql`t.dispatched_at`)}
    from tasks t join executions e on e.graph_id = t.graph_id left join workers w on w.id = 'agent:' || t.agent
    where t.agent is not null and t.state = 'sent' and t.worker_id is null
      and e.phase = 'running' and e.cancel_requested_at is null
      and (t.dispatched_at < app_now() - make_interval(secs => ${waitMs / 1000})
        or not starts_with(t.agent, e.tenant || '/'))
      and ${behind(place, sql`t.dispatched_at`, sql`t.id`)}
    order by t.dispatched_at, t.id limit ${limit}`.execute(db);
  return rows;
}
