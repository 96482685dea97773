import { type AnyQuery, type Db, prepared, type Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { ExecutionRow } from '../../store/rows';
import type { DB } from '../../store/tables.gen';
import { WAITS_WITHOUT_WORKER, waitsWithoutWorker } from '../../store/waiting-task';
import { parallelSystemWorkflows } from '../domain/system-workflows';

/** Advisory locks of this service; the numbers only have to be used by nobody else. */
const STARTS = 7_236_010;
const DEQUEUE = 7_236_011;

/**
 * Orders starts of system-wide executions against all other starts until the end of the transaction: other starts share the lock.
 * It is taken before the guard row, and before all reads for the decision.
 */
export async function lockStarts(tx: Tx<DB>, isSystemWide: boolean): Promise<void> {
  if (isSystemWide) await sql`select pg_advisory_xact_lock(${STARTS})`.execute(tx);
  else await sql`select pg_advisory_xact_lock_shared(${STARTS})`.execute(tx);
}

/** Locks as `lockStarts` does, then the guard row of a deployment, which is made when it is missing. */
export async function lockStartOf(tx: Tx<DB>, tenant: string, deploymentId: string): Promise<void> {
  const statement = {
    name: 'queue-lock-start',
    text: `with starts as materialized (select pg_advisory_xact_lock_shared(${STARTS}))
      insert into deployment_guards (tenant, deployment_id) select $1, $2 from starts
      on conflict (tenant, deployment_id) do update set tenant = excluded.tenant`,
  };
  await prepared(tx, statement, [tenant, deploymentId]);
}

const WAITING = {
  name: 'queue-waiting',
  text: `select exists (select 1 from executions where phase = 'waiting' and status = 'queued') as queue,
    exists (select 1 from execution_groups where has_queued) as groups,
    exists (select 1 from tasks t where t.deferral->>'untilExecution' = any($1::text[]) and ${WAITS_WITHOUT_WORKER}) as deferred`,
};

export interface Waiting {
  queue: boolean;
  groups: boolean;
  /** Operations that wait for one of the ended executions. */
  deferred: boolean;
}

/** Returns whether anything waits in the queue or in a group, or for the end of these executions: usually nothing does. */
export async function anythingWaiting(db: Db<DB>, endedIds: readonly string[] = []): Promise<Waiting> {
  return (await prepared<Waiting>(db, WAITING, [endedIds]))[0]!;
}

/** Locks the queue: one replica at a time takes from it, so that the limit for all replicas holds. Taken before `lockStarts`. */
export async function lockDequeue(tx: Tx<DB>): Promise<void> {
  await sql`select pg_advisory_xact_lock(${DEQUEUE})`.execute(tx);
}

/**
 * Returns system-wide executions of any tenant that are active or queued; other executions wait for them. `isNested`: an execution
 * that another one waits for does not wait for the queued ones, which wait for that other one themselves.
 */
export async function blockingSystemExecutions(db: AnyQuery, isNested = false): Promise<{ id: string }[]> {
  const { rows } = await sql<{ id: string }>`
    select id from executions where phase <> 'ended' and deployment_id is null and is_system_workflow
      and not (${isNested} and phase = 'waiting') and workflow_id <> all(${parallelSystemWorkflows}::text[]) limit 5`.execute(
    db,
  );
  return rows;
}

/** Returns ids of executions at work, at most 20: a system-wide execution waits for them. */
export async function executionsAtWork(db: AnyQuery, except: string | null): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from executions where phase not in ('ended', 'waiting') and id is distinct from ${except}::uuid
      and not (deployment_id is null and workflow_id = any(${parallelSystemWorkflows}::text[]))
    order by created_at limit 20`.execute(db);
  return rows.map((row) => row.id);
}

/**
 * Counts the executions at work of all tenants. An execution that waits for others that it has started takes no place, nor does
 * one whose operations all wait without a worker: the executions that they wait for may be in the queue.
 */
export async function countAtWork(db: AnyQuery): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from executions e where e.phase not in ('ended', 'waiting', 'awaiting')
      and not (e.phase = 'running' and exists (select 1 from tasks t where t.graph_id = e.graph_id and ${waitsWithoutWorker})
        and not exists (select 1 from tasks t where t.graph_id = e.graph_id and t.state in ('sent', 'started')
          and t.spec->>'kind' = 'operation' and not t.spec->'payload' ? 'isWorkflowCode'))`.execute(db);
  return rows[0]!.count;
}

/** SQL condition over `executions e`: another execution waits for its end, as its parent or by an operation that waits for it. */
const hasWaiter = sql`(e.parent_id is not null or exists (select 1 from tasks t
  where t.deferral->>'untilExecution' = e.id::text and ${waitsWithoutWorker}))`;

/**
 * Returns whether another execution waits for the end of this one. If so, this one waits for no queued execution, system-wide or
 * before it on its deployment: such a one may wait for that other execution, or for its room.
 */
export async function isAwaitedByOther(db: AnyQuery, id: string): Promise<boolean> {
  const { rows } = await sql`select 1 as found from executions e where e.id = ${id} and ${hasWaiter}`.execute(
    db,
  );
  return rows.length > 0;
}

/**
 * Returns the queued executions that may be next, oldest first. If a system-wide one is queued: those that others wait for, then
 * the oldest system-wide one alone. Otherwise: the oldest of each deployment where nothing is at work, and those that others wait
 * for. A blocked one costs only an index lookup, so that it does not hold up the others. Those in `except`, and those of tenants
 * whose quota is reached (`full`), are left out. Members of execution groups have a queue of their own
 * (groups/store/execution-groups.sql.ts).
 */
export async function queueHeads(
  db: AnyQuery,
  limit: number,
  except: readonly string[],
  full: readonly string[],
): Promise<ExecutionRow[]> {
  const isOpen =
    full.length === 0
      ? sql`true`
      : sql`(e.tenant <> all(${[...full]}::text[]) or e.is_system_workflow or ${hasWaiter})`;
  const system = await sql<ExecutionRow>`
    select * from executions where phase = 'waiting' and status = 'queued' and deployment_id is null
      and id <> all(${[...except]}::uuid[])
    order by created_at, id limit 1`.execute(db);
  const isWide = system.rows.length > 0;
  const { rows } = await sql<ExecutionRow>`
    select e.* from executions e where e.phase = 'waiting' and e.status = 'queued' and e.execution_group_id is null
      and e.id <> all(${[...except]}::uuid[]) and ${isOpen} and ${isWide ? sql`e.deployment_id is not null and ${hasWaiter}` : sql`true`}
      and (e.is_forced or not has_left_runs(e.tenant, e.deployment_id, e.id) and not exists (select 1 from executions b
        where b.tenant = e.tenant and b.deployment_id = e.deployment_id and b.phase <> 'ended' and b.id <> e.id
          and (b.phase <> 'waiting'
            or (b.status = 'queued' and (b.created_at, b.id) < (e.created_at, e.id) and not ${hasWaiter}))))
    order by e.created_at, e.id limit ${limit}`.execute(db);
  return [...rows, ...system.rows];
}
