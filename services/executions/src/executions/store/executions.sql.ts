import { type Db, prepared, type Tx } from '@baton/postgres';
import { sql } from 'kysely';
import { type GoneDeployment, ofGone } from '../../store/gone-deployment.sql';
import { behind, type Place, type Placed, placedAt } from '../../store/round.sql';
import type { ExecutionRow } from '../../store/rows';
import type { DB } from '../../store/tables.gen';

type Reader = Db<DB>['query'] | Tx<DB>;

const json = (value: unknown) => sql`${JSON.stringify(value)}::jsonb`;

/** A row with the database's time of its reading, the one authority for timers and leases. */
export type TimedExecution = ExecutionRow & { now_ms: number };
/** The same under lock. */
export type LockedExecution = TimedExecution;

// Prepared, for nearly all that is done to an execution begins with one of them: their plans cost five times what reading does.
const TIMED =
  'select *, (extract(epoch from app_now()) * 1000)::bigint as now_ms from executions where id = $1';
const READ = { name: 'engine-read-execution', text: TIMED };
const LOCK = { name: 'engine-lock-execution', text: `${TIMED} for update` };
const TWIN = {
  name: 'engine-twin-execution',
  text: 'select * from executions where tenant = $1 and request_id = $2',
};

/** The row under lock: everything that changes an execution starts here. Null when there is none. */
export async function lockExecution(tx: Tx<DB>, id: string): Promise<LockedExecution | null> {
  return (await prepared<LockedExecution>(tx, LOCK, [id]))[0] ?? null;
}

/** The row without a lock. */
export async function readExecution(reader: Reader, id: string): Promise<TimedExecution | null> {
  return (await prepared<TimedExecution>(reader, READ, [id]))[0] ?? null;
}

const AT_VERSION = {
  name: 'engine-at-version',
  text: 'select 1 as found from executions where id = $1 and version = $2',
};

/** Whether the execution's graph still is at this version. */
export async function isAtVersion(db: Pick<Db<DB>, 'pool'>, id: string, version: number): Promise<boolean> {
  return (await prepared(db as Db<DB>, AT_VERSION, [id, version])).length > 0;
}

/** The execution that an earlier request with the same id made; null when nobody repeats the request. */
export async function twinOf(
  reader: Reader,
  { tenant, requestId }: { tenant: string; requestId: string | null },
): Promise<ExecutionRow | null> {
  if (requestId === null) return null;
  return (await prepared<ExecutionRow>(reader, TWIN, [tenant, requestId]))[0] ?? null;
}

/** What every execution begins with: the one list of these columns, for each way in which a row is inserted. */
export const NEW_COLUMNS = [
  'id',
  'tenant',
  'request_id',
  'payload_hash',
  'workflow_id',
  'program',
  'deployment_id',
  'deployment_display_name',
  'deployment_made_by',
  'blueprint_id',
  'visibility',
  'created_by',
  'status',
  'phase',
  'parameters',
  'is_system_workflow',
  'is_dry_run',
  'is_forced',
  'allow_custom_parameters',
  'wait_after_fail_s',
  'token_hash',
  'scheduled_for',
  'wake_at',
  'parent_id',
] as const satisfies readonly (keyof ExecutionRow)[];

export type NewExecution = Pick<ExecutionRow, (typeof NEW_COLUMNS)[number]>;

export async function insertExecution(tx: Tx<DB>, row: NewExecution): Promise<ExecutionRow> {
  const values = NEW_COLUMNS.map((column) => written(column, row[column]));
  const { rows } = await sql<ExecutionRow>`
    insert into executions (${sql.raw(NEW_COLUMNS.join(', '))}) values (${sql.join(values)}) returning *`.execute(
    tx,
  );
  return rows[0]!;
}

/** Columns that hold JSON must be told apart from texts. */
const JSON_COLUMNS = new Set<string>(['parameters', 'stage', 'history', 'outcome']);
/** Set to the database's own time. */
export const NOW = Symbol('app_now()');

/** A value as a parameter of its column. */
const written = (column: string, value: unknown) =>
  JSON_COLUMNS.has(column) && value !== null ? json(value) : sql`${value ?? null}`;

export type ExecutionChanges = { [K in keyof ExecutionRow]?: ExecutionRow[K] | typeof NOW };

/** Writes the given columns of a locked row. */
export async function updateExecution(tx: Tx<DB>, id: string, changes: ExecutionChanges): Promise<void> {
  const sets = Object.entries(changes).map(([column, value]) => {
    return sql`${sql.ref(column)} = ${value === NOW ? sql`app_now()` : written(column, value)}`;
  });
  if (sets.length > 0) await sql`update executions set ${sql.join(sets)} where id = ${id}`.execute(tx);
}

const MAKE_GUARD = {
  name: 'engine-make-guard',
  text: 'insert into deployment_guards (tenant, deployment_id) values ($1, $2) on conflict do nothing',
};
const LOCK_GUARD = {
  name: 'engine-lock-guard',
  text: 'select 1 from deployment_guards where tenant = $1 and deployment_id = $2 for update',
};

/** Makes and locks the guard row of a deployment: one starter or ender at a time. */
export async function lockGuard(tx: Tx<DB>, tenant: string, deploymentId: string): Promise<void> {
  await prepared(tx, MAKE_GUARD, [tenant, deploymentId]);
  await prepared(tx, LOCK_GUARD, [tenant, deploymentId]);
}

/** Executions of the deployment that have not ended, oldest first. */
export async function activeOfDeployment(
  reader: Reader,
  tenant: string,
  deploymentId: string,
): Promise<ExecutionRow[]> {
  const { rows } = await sql<ExecutionRow>`
    select * from executions where tenant = ${tenant} and deployment_id = ${deploymentId} and phase <> 'ended'
    order by created_at, id`.execute(reader);
  return rows;
}

export type DueExecution = Placed & { phase: string };

/** Executions of which a timer is due, longest due first. */
export async function dueTimers(reader: Reader, limit: number, place: Place | null): Promise<DueExecution[]> {
  const { rows } = await sql<DueExecution>`
    select id, phase, ${placedAt(sql`wake_at`)} from executions
    where wake_at <= app_now() and phase <> 'ended' and ${behind(place, sql`wake_at`, sql`id`)}
    order by wake_at, id limit ${limit}`.execute(reader);
  return rows;
}

/** Ended executions whose end deployments may not have heard, longest owed first. */
export async function owedEnds(reader: Reader, limit: number, place: Place | null): Promise<Placed[]> {
  const { rows } = await sql<Placed>`
    select id, ${placedAt(sql`wake_at`)} from executions
    where wake_at <= app_now() and phase = 'ended' and ${behind(place, sql`wake_at`, sql`id`)}
    order by wake_at, id limit ${limit}`.execute(reader);
  return rows;
}

const HEARD = {
  name: 'engine-end-heard',
  text: `update executions set wake_at = null where id = $1 and version = $2 and phase = 'ended'`,
};

/** The end of an execution is owed no more, when it still has ended at this version. */
export async function noteEndHeard(db: Pick<Db<DB>, 'pool'>, id: string, version: number): Promise<void> {
  await prepared(db as Db<DB>, HEARD, [id, version]);
}

/** Executions between two phases for so long that their driver may have died, oldest first. */
export async function betweenPhases(
  reader: Reader,
  limit: number,
  stalledMs: number,
  place: Place | null,
): Promise<DueExecution[]> {
  const { rows } = await sql<DueExecution>`
    select id, phase, ${placedAt(sql`created_at`)} from executions
    where phase in ('planning', 'calling', 'ending') and ${behind(place, sql`created_at`, sql`id`)}
      and created_at <= app_now() - make_interval(secs => ${stalledMs / 1000})
    order by created_at, id limit ${limit}`.execute(reader);
  return rows;
}

/** Executions that stages of this one have started and that have not ended, or are to be resumed; waiting ones first. */
export async function unendedChildren(
  reader: Reader,
  parentId: string,
): Promise<Pick<ExecutionRow, 'id' | 'phase' | 'resume_wish'>[]> {
  const { rows } = await sql<Pick<ExecutionRow, 'id' | 'phase' | 'resume_wish'>>`
    select id, phase, resume_wish from executions
    where parent_id = ${parentId} and (phase <> 'ended' or resume_wish is not null)
    order by phase <> 'waiting', created_at, id`.execute(reader);
  return rows;
}

/** Deployment of the first execution in the line of those that have started each other. */
export async function rootDeployment(reader: Reader, id: string): Promise<string> {
  const { rows } = await sql<{ deployment_id: string | null }>`
    with recursive above(parent_id, deployment_id, height) as (
      select parent_id, deployment_id, 1 from executions where id = ${id}
      union all
      select e.parent_id, e.deployment_id, a.height + 1 from executions e join above a on e.id = a.parent_id where a.height < 100)
    select deployment_id from above order by height desc limit 1`.execute(reader);
  return rows[0]?.deployment_id ?? '';
}

/** Executions that wait for others and need not any more: their wake-up was lost. */
export async function awaitingNothing(reader: Reader, limit: number, place: Place | null): Promise<Placed[]> {
  const { rows } = await sql<Placed>`
    select e.id, ${placedAt(sql`e.created_at`)} from executions e
    where e.phase = 'awaiting' and ${behind(place, sql`e.created_at`, sql`e.id`)}
      and not exists (select 1 from executions c
        where c.parent_id = e.id and (c.phase <> 'ended' or c.resume_wish is not null))
    order by e.created_at, e.id limit ${limit}`.execute(reader);
  return rows;
}

export async function executionByToken(reader: Reader, tokenHash: string): Promise<ExecutionRow | null> {
  const { rows } = await sql<ExecutionRow>`
    select * from executions where token_hash = ${tokenHash} and phase <> 'ended'`.execute(reader);
  return rows[0] ?? null;
}

/** The latest execution of each deployment. */
export async function latestExecutions(
  reader: Reader,
  tenant: string,
  deploymentIds: string[],
): Promise<ExecutionRow[]> {
  const { rows } = await sql<ExecutionRow>`
    select e.* from unnest(${deploymentIds}::text[]) d(id)
    cross join lateral (select * from executions where tenant = ${tenant} and deployment_id = d.id
      order by created_at desc, id desc limit 1) e`.execute(reader);
  return rows;
}

/** Lets this transaction take an execution out of its terminal status: only a resume may. */
export async function allowLeavingTheEnd(tx: Tx<DB>): Promise<void> {
  await sql`select set_config('baton.is_resuming', 'yes', true)`.execute(tx);
}

/** Ended executions of a deployment that is gone, and its events when asked. */
export async function deleteOfDeployment(
  tx: Tx<DB>,
  gone: GoneDeployment,
  withEvents: boolean,
): Promise<void> {
  const { tenant, deploymentId } = gone;
  const { rows } = await sql<{ execution_group_id: string | null }>`
    delete from executions e where ${ofGone(gone, 'e')} and e.phase = 'ended'
    returning e.execution_group_id`.execute(tx);
  const groups = new Set(rows.map((row) => row.execution_group_id).filter((id) => id !== null));
  await deleteEmptyDeletions(tx, tenant, [...groups]);
  if (withEvents)
    await sql`delete from events v where v.tenant = ${tenant} and v.deployment_id = ${deploymentId}
      and not exists (select 1 from executions e where e.id = v.execution_id and not ${ofGone(gone, 'e')})`.execute(
      tx,
    );
}

/**
 * The ended execution that deleted a deployment: it goes with the others, which may have gone while it was ending.
 * Nothing for any other execution.
 */
export async function deleteDeletion(
  tx: Tx<DB>,
  tenant: string,
  id: string,
  withEvents: boolean,
): Promise<void> {
  const { rows } = await sql<{ execution_group_id: string | null; deletes_logs: boolean }>`
    delete from executions where tenant = ${tenant} and id = ${id} and phase = 'ended'
      and workflow_id = 'delete_deployment_environment'
    returning execution_group_id, coalesce(parameters->>'delete_logs' = 'true', false) as deletes_logs`.execute(
    tx,
  );
  const deleted = rows[0];
  if (!deleted) return;
  if (deleted.execution_group_id !== null)
    await deleteEmptyDeletions(tx, tenant, [deleted.execution_group_id]);
  if (withEvents || deleted.deletes_logs)
    await sql`delete from events where execution_id = ${id}`.execute(tx);
}

/** Groups that deleted the deployments of a group, once none of these is left (their executions went with them). */
async function deleteEmptyDeletions(tx: Tx<DB>, tenant: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`delete from execution_groups g where g.tenant = ${tenant} and g.id = any(${[...ids]}::text[])
    and g.workflow_id = 'delete_deployment_environment'
    and not exists (select 1 from executions e where e.tenant = g.tenant and e.execution_group_id = g.id)`.execute(
    tx,
  );
}

/** One ended execution with its events; nothing when there is none. */
export async function deleteEnded(tx: Tx<DB>, tenant: string, id: string): Promise<void> {
  const { rows } =
    await sql`delete from executions where tenant = ${tenant} and id = ${id} and phase = 'ended' returning id`.execute(
      tx,
    );
  if (rows.length > 0) await sql`delete from events where execution_id = ${id}`.execute(tx);
}
