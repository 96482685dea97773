import { type AnyQuery, type Db, prepared, type Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { ExecutionRow } from '../../store/rows';
import type { DB } from '../../store/tables.gen';
import { WAITS_WITHOUT_WORKER, waitsWithoutWorker } from '../../store/waiting-task';
import { parallelSystemWorkflows } from '../domain/system-workflows';

/** Advisory locks of this service; the numbers only have to be ours. */
const STARTS = 7_236_010;
const DEQUEUE = 7_236_011;

/**
 * Orders starts of system-wide executions against all others until the end of the transaction: others share the lock. It
 * comes before the guard row, and before anything is read that decides.
 */
export async function lockStarts(tx: Tx<DB>, isSystemWide: boolean): Promise<void> {
  if (isSystemWide) await sql`select pg_advisory_xact_lock(${STARTS})`.execute(tx);
  else await sql`select pg_advisory_xact_lock_shared(${STARTS})`.execute(tx);
}

/** `lockStarts`, then the guard row of a deployment, made when it is missing. */
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

/** Whether anything waits in the queue or in a group, or for the end of these executions: the usual answer is no. */
export async function anythingWaiting(db: Db<DB>, endedIds: readonly string[] = []): Promise<Waiting> {
  return (await prepared<Waiting>(db, WAITING, [endedIds]))[0]!;
}

/** One replica at a time takes from the queue, so that the limit of all holds; before `lockStarts`. */
export async function lockDequeue(tx: Tx<DB>): Promise<void> {
  await sql`select pg_advisory_xact_lock(${DEQUEUE})`.execute(tx);
}

/**
 * System-wide executions that are active or queued, of any tenant; others wait for them. `isNested`: one that another
 * execution waits for does not wait for queued ones, which wait for that other execution themselves.
 */
export async function blockingSystemExecutions(db: AnyQuery, isNested = false): Promise<{ id: string }[]> {
  const { rows } = await sql<{ id: string }>`
    select id from executions where phase <> 'ended' and deployment_id is null and is_system_workflow
      and not (${isNested} and phase = 'waiting') and workflow_id <> all(${parallelSystemWorkflows}::text[]) limit 5`.execute(
    db,
  );
  return rows;
}

/** Ids of executions at work anywhere, some of them: what a system-wide one waits for. */
export async function executionsAtWork(db: AnyQuery, except: string | null): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from executions where phase not in ('ended', 'waiting') and id is distinct from ${except}::uuid
      and not (deployment_id is null and workflow_id = any(${parallelSystemWorkflows}::text[]))
    order by created_at limit 20`.execute(db);
  return rows.map((row) => row.id);
}

/**
 * How many executions are at work, of all tenants. Those that wait for others which they have started take no place, nor do
 * those whose operations all wait without a worker: what they wait for may stand in the queue.
 */
export async function countAtWork(db: AnyQuery): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from executions e where e.phase not in ('ended', 'waiting', 'awaiting')
      and not (e.phase = 'running' and exists (select 1 from tasks t where t.graph_id = e.graph_id and ${waitsWithoutWorker})
        and not exists (select 1 from tasks t where t.graph_id = e.graph_id and t.state in ('sent', 'started')
          and t.spec->>'kind' = 'operation' and not t.spec->'payload' ? 'isWorkflowCode'))`.execute(db);
  return rows[0]!.count;
}

/** Over `executions e`: another execution waits for its end, which started it or has an operation that waits for it. */
const hasWaiter = sql`(e.parent_id is not null or exists (select 1 from tasks t
  where t.deferral->>'untilExecution' = e.id::text and ${waitsWithoutWorker}))`;

/**
 * Whether another execution waits for the end of this one. It waits for nothing that is queued itself, system-wide or before
 * it on its deployment: that may wait for that other execution, or for room that this has.
 */
export async function isAwaitedByOther(db: AnyQuery, id: string): Promise<boolean> {
  const { rows } = await sql`select 1 as found from executions e where e.id = ${id} and ${hasWaiter}`.execute(
    db,
  );
  return rows.length > 0;
}

/**
 * Those of the queue that may be next: the oldest system-wide one alone, behind those that others wait for; else the oldest
 * of each deployment where nothing is at work, and those that others wait for, oldest first. Blocked ones cost a look at an index each, so that none of them
 * holds up the others; nor do those of `except`, nor of tenants whose quota is reached (`full`). Members of execution groups have a queue of their own (groups/store/execution-groups.sql.ts).
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
