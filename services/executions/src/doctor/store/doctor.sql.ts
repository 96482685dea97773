import { type AnyQuery, privateCreatorText, type Tx } from '@baton/postgres';
import { type RawBuilder, sql } from 'kysely';
import type { LatestExecution } from '../../adapters/deployments.client';
import { workflowsCarriedOutElsewhere } from '../../executions/domain/system-workflows';
import type { DB } from '../../store/tables.gen';
import { isAwaited, waitsWithoutWorker } from '../../store/waiting-task';

/** A finding of a check: the id of the row, and a text about it. */
export interface Broken {
  id: string;
  about: string;
}

/** The most rows of one kind in one result. */
const LIMIT = 100;
/** Rows younger than this are skipped: their message or delivery may be on its way. */
const SETTLED = sql`app_now() - interval '60 seconds'`;
/** States of a task in which a report about it is still expected. */
const IN_FLIGHT = sql`('sending', 'sent', 'started', 'response-sent')`;

async function find(db: AnyQuery, query: RawBuilder<unknown>): Promise<Broken[]> {
  const { rows } =
    await sql<Broken>`select id::text as id, about from (${query}) found order by 1 limit ${LIMIT}`.execute(
      db,
    );
  return rows;
}

/** Operations that a worker holds without a lease: the reaper would never find them. */
export const lostLeases = (db: AnyQuery) =>
  find(
    db,
    sql`select t.id, 'operation ' || (t.spec->>'name') || ' of execution ' || e.id || ' is held by ' || t.worker_id as about
      from tasks t join executions e on e.graph_id = t.graph_id
      where e.phase = 'running' and t.state in ${IN_FLIGHT} and t.worker_id is not null and t.lease_until is null`,
  );

/** Dispatched operations without the time of the dispatch: they would never be announced again. */
export const lostDispatches = (db: AnyQuery) =>
  find(
    db,
    sql`select t.id, 'operation ' || (t.spec->>'name') || ' of execution ' || e.id || ' waits for a worker' as about
      from tasks t join executions e on e.graph_id = t.graph_id
      where e.phase = 'running' and t.state = 'sent' and t.worker_id is null and t.dispatched_at is null
        and t.spec->>'kind' = 'operation'`,
  );

/** Executions with a time at which they must continue, and no timer that wakes them then. */
export const lostTimers = (db: AnyQuery) =>
  find(
    db,
    sql`select e.id, e.workflow_id || ' on ' || coalesce(e.deployment_id, 'no deployment') as about from executions e
      where (e.status = 'scheduled' and (e.wake_at is null or e.wake_at > e.scheduled_for))
        or (e.phase = 'running' and e.status = 'started' and exists (select 1 from tasks t where t.graph_id = e.graph_id
          and t.state = 'pending' and t.not_before is not null
          and (e.wake_at is null or e.wake_at > to_timestamp(t.not_before / 1000.0) + interval '1 second')))`,
  );

/** Operations that still wait for the end of an execution that has ended: they were never informed. */
export const forgottenDeferrals = (db: AnyQuery) =>
  find(
    db,
    sql`select t.id, 'operation ' || (t.spec->>'name') || ' of execution ' || e.id || ' waits for ' || c.id || ', which is '
        || c.status as about
      from tasks t join executions e on e.graph_id = t.graph_id
      join executions c on ${isAwaited} and c.tenant = e.tenant
      where ${waitsWithoutWorker} and e.phase = 'running'
        and c.phase = 'ended' and c.ended_at < ${SETTLED}`,
  );

/** Running executions that cannot continue: no operation in flight, no timer. */
export const stoodStill = (db: AnyQuery) =>
  find(
    db,
    sql`select e.id, e.workflow_id || ' on ' || coalesce(e.deployment_id, 'no deployment') as about from executions e
      where e.phase = 'running' and e.wake_at is null
        and exists (select 1 from tasks_graphs g where g.id = e.graph_id)
        and not exists (select 1 from tasks t where t.graph_id = e.graph_id
          and t.spec->>'kind' = 'operation' and (t.state in ${IN_FLIGHT} or (t.state = 'pending' and t.not_before is not null)))`,
  );

/** Running executions whose graph was deleted: nothing can end them. */
export const lostGraphs = (db: AnyQuery) =>
  find(
    db,
    sql`select e.id, e.workflow_id || ' on ' || coalesce(e.deployment_id, 'no deployment') as about from executions e
      where e.phase = 'running' and not exists (select 1 from tasks_graphs g where g.id = e.graph_id)
        and not (e.deployment_id is null and e.workflow_id = any(${[...workflowsCarriedOutElsewhere]}::text[]))`,
  );

/** Tasks of executions that do not exist. */
export const orphanedTasks = (db: AnyQuery) =>
  find(
    db,
    sql`select t.id, 'task ' || coalesce(t.spec->>'name', '') || ' of execution ' || t.execution_id as about from tasks t
      where not exists (select 1 from executions e where e.id = t.execution_id)`,
  );

/** Executions whose node-instance states have not reached deployments for a minute. */
export const undelivered = (db: AnyQuery) =>
  find(
    db,
    sql`select execution_id as id, count(*) || ' states since ' || min(created_at) as about from instance_states
      group by execution_id having min(created_at) < ${SETTLED}`,
  );

/** Executions whose next event would get a sequence number that is taken. */
export const brokenSequences = (db: AnyQuery) =>
  find(
    db,
    sql`select e.id, 'its last event is ' || last.seq || ', it counts ' || e.last_event_seq as about from executions e
      cross join lateral (select max(seq) as seq from events v where v.execution_id = e.id) last
      where e.phase <> 'ended' and last.seq > e.last_event_seq`,
  );

/** Enabled schedules that are due for ten minutes and were not fired. */
export const lateSchedules = (db: AnyQuery) =>
  find(
    db,
    sql`select key as id, 'schedule ' || id || ' of ' || deployment_id || ' was due at ' || next_occurrence as about
      from execution_schedules where enabled and next_occurrence < app_now() - interval '10 minutes'`,
  );

/** Returns enabled schedules without a next time. Most of them have ended; only their rule shows which have not. */
export async function schedulesWithoutNext(db: AnyQuery): Promise<{ key: string }[]> {
  const { rows } = await sql<{ key: string }>`
    select key from execution_schedules where enabled and next_occurrence is null order by key limit 1000`.execute(
    db,
  );
  return rows;
}

/** Groups with waiting members that are not marked as queued: their members would never start. */
export const forgottenGroups = (db: AnyQuery) =>
  find(
    db,
    sql`select g.tenant || '/' || g.id as id, g.workflow_id || ' on the group ' || coalesce(g.deployment_group_id, '') as about
      from execution_groups g where not g.has_queued and exists (select 1 from executions e
        where e.tenant = g.tenant and e.execution_group_id = g.id
          and (e.resume_wish is not null or (e.phase = 'waiting' and e.status = 'queued')))`,
  );

const KIND = sql`case when is_system_workflow then 'system_executions' else 'executions' end`;
const CREATOR = sql.raw(privateCreatorText({ otherwise: "''" }));

/** Tenants whose lists would show a total that differs from the number of their executions. */
export const wrongTotals = (db: AnyQuery) =>
  find(
    db,
    sql`select tenant as id, 'lists of ' || kind || ' say ' || coalesce(told, 0) || ', there are ' || coalesce(there, 0) as about
      from (select ${KIND} as kind, tenant, visibility, ${CREATOR} as creator, count(*) as there from executions group by 1, 2, 3, 4) e
      full join (select kind, tenant, visibility, creator, sum(total) as told from row_counts group by 1, 2, 3, 4) c
        using (kind, tenant, visibility, creator)
      where coalesce(told, 0) <> coalesce(there, 0)`,
  );

/**
 * Returns the deployments whose shown execution is not their latest one, or has an old status. Dry runs do not count. An
 * execution that was refused before it began was never reported.
 */
export async function wronglyLatest(db: AnyQuery, shown: readonly LatestExecution[]): Promise<Broken[]> {
  return await find(
    db,
    sql`select e.id, e.workflow_id || ' on ' || e.deployment_id || ' is ' || e.status || '; the deployment shows '
        || case when d."executionId" = '' then 'none' else d."executionId" || ' as ' || d.status end as about
      from jsonb_to_recordset(${JSON.stringify(shown)}::jsonb)
        as d(tenant text, "deploymentId" text, "executionId" text, status text)
      cross join lateral (select * from executions e where e.tenant = d.tenant and e.deployment_id = d."deploymentId"
        and e.phase <> 'waiting' and not e.is_dry_run
        and not (e.status = 'failed' and e.graph_id is null and e.history = '[]') order by e.id desc limit 1) e
      where coalesce(e.ended_at, e.started_at, e.created_at) < ${SETTLED} and (e.id::text > d."executionId"
        or (e.id::text = d."executionId" and case when e.phase = 'ended' then e.status <> d.status
          else d.status in ('terminated', 'failed', 'cancelled') end))`,
  );
}

/** The repairs; each changes nothing when the row has been corrected meanwhile. */
export async function expireLease(tx: Tx<DB>, taskId: string): Promise<void> {
  await sql`update tasks set lease_until = app_now() where id = ${taskId} and worker_id is not null and lease_until is null`.execute(
    tx,
  );
}

export async function dateDispatch(tx: Tx<DB>, taskId: string): Promise<void> {
  await sql`update tasks set dispatched_at = app_now() - interval '1 hour'
    where id = ${taskId} and worker_id is null and dispatched_at is null`.execute(tx);
}

export async function setTimer(tx: Tx<DB>, executionId: string): Promise<void> {
  await sql`update executions e set wake_at = case when e.status = 'scheduled' then e.scheduled_for else
      (select to_timestamp(min(t.not_before) / 1000.0) from tasks t
        where t.graph_id = e.graph_id and t.state = 'pending' and t.not_before is not null) end
    where id = ${executionId} and phase in ('waiting', 'running')`.execute(tx);
}

/** Makes every replica read the graph again. */
export async function raiseVersion(tx: Tx<DB>, executionId: string): Promise<void> {
  await sql`update executions set version = version + 1 where id = ${executionId}`.execute(tx);
}

export async function deleteOrphanedTask(tx: Tx<DB>, taskId: string): Promise<void> {
  await sql`delete from tasks t where t.id = ${taskId}
    and not exists (select 1 from executions e where e.id = t.execution_id)`.execute(tx);
}

export async function dropStates(tx: Tx<DB>, executionId: string): Promise<void> {
  await sql`delete from instance_states where execution_id = ${executionId}`.execute(tx);
}

export async function mendSequence(tx: Tx<DB>, executionId: string): Promise<void> {
  await sql`update executions e set last_event_seq = greatest(e.last_event_seq,
      (select coalesce(max(seq), 0) from events v where v.execution_id = e.id))
    where id = ${executionId}`.execute(tx);
}

/** `id`: tenant and group, separated by a slash. */
export async function markQueued(tx: Tx<DB>, id: string): Promise<void> {
  await sql`update execution_groups set has_queued = true where tenant || '/' || id = ${id}`.execute(tx);
}

/** Recomputes the counts of a tenant's executions; the lock keeps new executions out meanwhile. */
export async function recount(tx: Tx<DB>, tenant: string): Promise<void> {
  await sql`lock table executions in share row exclusive mode`.execute(tx);
  await sql`delete from row_counts where tenant = ${tenant}`.execute(tx);
  await sql`insert into row_counts (kind, tenant, visibility, creator, total)
    select ${KIND}, tenant, visibility, ${CREATOR}, count(*) from executions where tenant = ${tenant} group by 1, 2, 3, 4`.execute(
    tx,
  );
}
