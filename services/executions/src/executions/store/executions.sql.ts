import { executionResourcesChanged, type Visibility } from '@baton/contracts';
import { type Db, noteAfterCommit, noteResource, prepared, type Tx } from '@baton/postgres';
import { sql } from 'kysely';
import { type GoneDeployment, ofGone } from '../../store/gone-deployment.sql';
import { behind, type Place, type Placed, placedAt } from '../../store/round.sql';
import type { ExecutionRow } from '../../store/rows';
import type { DB } from '../../store/tables.gen';

type Reader = Db<DB>['query'] | Tx<DB>;

const json = (value: unknown) => sql`${JSON.stringify(value)}::jsonb`;

/** A row with the time of the database when it was read: only this time counts for timers and leases. */
export type TimedExecution = ExecutionRow & { now_ms: number };
/** A timed row that the transaction has locked. */
export type LockedExecution = TimedExecution;

// Prepared, because nearly every command on an execution begins with one of them: their plans cost five times as much as reading.
const TIMED =
  'select *, (extract(epoch from app_now()) * 1000)::bigint as now_ms from executions where id = $1';
const READ = { name: 'engine-read-execution', text: TIMED };
const LOCK = { name: 'engine-lock-execution', text: `${TIMED} for update` };
const TWIN = {
  name: 'engine-twin-execution',
  text: 'select * from executions where tenant = $1 and request_id = $2',
};

/** Locks and returns the row: every change of an execution starts here. Null when it does not exist. */
export async function lockExecution(tx: Tx<DB>, id: string): Promise<LockedExecution | null> {
  return (await prepared<LockedExecution>(tx, LOCK, [id]))[0] ?? null;
}

/** Returns the row without a lock. */
export async function readExecution(reader: Reader, id: string): Promise<TimedExecution | null> {
  return (await prepared<TimedExecution>(reader, READ, [id]))[0] ?? null;
}

const AT_VERSION = {
  name: 'engine-at-version',
  text: 'select 1 as found from executions where id = $1 and version = $2',
};

/** Returns whether the execution still is at this version. */
export async function isAtVersion(db: Pick<Db<DB>, 'pool'>, id: string, version: number): Promise<boolean> {
  return (await prepared(db as Db<DB>, AT_VERSION, [id, version])).length > 0;
}

/** Returns the execution that an earlier request with the same id has made; null when there is none. */
export async function twinOf(
  reader: Reader,
  { tenant, requestId }: { tenant: string; requestId: string | null },
): Promise<ExecutionRow | null> {
  if (requestId === null) return null;
  return (await prepared<ExecutionRow>(reader, TWIN, [tenant, requestId]))[0] ?? null;
}

/** Columns of a new execution: the only list of them, for each way in which a row is inserted. */
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
  noteAfterCommit(tx, row.id);
  return rows[0]!;
}

/** Columns whose changes are told to streams of changes (changes/store/moved-executions.sql.ts). */
const TOLD = ['status', 'version', 'total_operations', 'finished_operations'] as const;

/** Fields of a deleted row that streams of changes need. */
export type DeletedExecution = Pick<ExecutionRow, 'id' | 'tenant' | 'created_by' | 'visibility'>;

/** Tells streams of changes, when `tx` commits, that these executions are gone. */
export function noteDeleted(tx: Tx<DB>, rows: readonly DeletedExecution[]): void {
  for (const { id, tenant, created_by: createdBy, visibility } of rows)
    noteResource(tx, executionResourcesChanged, tenant, {
      kind: 'executions',
      id,
      operation: 'deleted',
      createdBy,
      visibility: visibility as Visibility,
    });
}

/** Columns that hold JSON must be told apart from texts. */
const JSON_COLUMNS = new Set<string>(['parameters', 'stage', 'history', 'outcome']);
/** Value of a column that is to be set to the time of the database. */
export const NOW = Symbol('app_now()');

/** Returns a value as a parameter of its column. */
const written = (column: string, value: unknown) =>
  JSON_COLUMNS.has(column) && value !== null ? json(value) : sql`${value ?? null}`;

export type ExecutionChanges = { [K in keyof ExecutionRow]?: ExecutionRow[K] | typeof NOW };

/** Writes the given columns of a locked row. */
export async function updateExecution(tx: Tx<DB>, id: string, changes: ExecutionChanges): Promise<void> {
  const sets = Object.entries(changes).map(([column, value]) => {
    return sql`${sql.ref(column)} = ${value === NOW ? sql`app_now()` : written(column, value)}`;
  });
  if (sets.length > 0) await sql`update executions set ${sql.join(sets)} where id = ${id}`.execute(tx);
  if (TOLD.some((column) => column in changes)) noteAfterCommit(tx, id);
}

const MAKE_GUARD = {
  name: 'engine-make-guard',
  text: 'insert into deployment_guards (tenant, deployment_id) values ($1, $2) on conflict do nothing',
};
const LOCK_GUARD = {
  name: 'engine-lock-guard',
  text: 'select 1 from deployment_guards where tenant = $1 and deployment_id = $2 for update',
};

/** Makes and locks the guard row of a deployment: one transaction at a time starts or ends executions of it. */
export async function lockGuard(tx: Tx<DB>, tenant: string, deploymentId: string): Promise<void> {
  await prepared(tx, MAKE_GUARD, [tenant, deploymentId]);
  await prepared(tx, LOCK_GUARD, [tenant, deploymentId]);
}

/** Returns the executions of the deployment that have not ended, oldest first. */
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

/** Returns executions with a due timer, longest due first. */
export async function dueTimers(reader: Reader, limit: number, place: Place | null): Promise<DueExecution[]> {
  const { rows } = await sql<DueExecution>`
    select id, phase, ${placedAt(sql`wake_at`)} from executions
    where wake_at <= app_now() and phase <> 'ended' and ${behind(place, sql`wake_at`, sql`id`)}
    order by wake_at, id limit ${limit}`.execute(reader);
  return rows;
}

/** Returns ended executions whose end deployments may not have heard, longest owed first. */
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

/** Notes that the end of an execution is no longer owed, if it still is ended at this version. */
export async function noteEndHeard(db: Pick<Db<DB>, 'pool'>, id: string, version: number): Promise<void> {
  await prepared(db as Db<DB>, HEARD, [id, version]);
}

/** Returns executions between two phases that are older than `stalledMs`, so that their driver may have died, oldest first. */
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

/** Returns executions that stages of this one have started and that have not ended, or are to be resumed; waiting ones first. */
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

/** Returns the deployment of the first execution in the chain of executions that have started each other. */
export async function rootDeployment(reader: Reader, id: string): Promise<string> {
  const { rows } = await sql<{ deployment_id: string | null }>`
    with recursive above(parent_id, deployment_id, height) as (
      select parent_id, deployment_id, 1 from executions where id = ${id}
      union all
      select e.parent_id, e.deployment_id, a.height + 1 from executions e join above a on e.id = a.parent_id where a.height < 100)
    select deployment_id from above order by height desc limit 1`.execute(reader);
  return rows[0]?.deployment_id ?? '';
}

/** Returns executions in phase `awaiting` whose children have all ended: their wake-up was lost. */
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

/** Returns the latest execution of each deployment. */
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

/** Deletes the ended executions of a deployment that is gone; with `withEvents`, also its events. */
export async function deleteOfDeployment(
  tx: Tx<DB>,
  gone: GoneDeployment,
  withEvents: boolean,
): Promise<void> {
  const { tenant, deploymentId } = gone;
  const { rows } = await sql<DeletedExecution & { execution_group_id: string | null }>`
    delete from executions e where ${ofGone(gone, 'e')} and e.phase = 'ended'
    returning e.id, e.tenant, e.created_by, e.visibility, e.execution_group_id`.execute(tx);
  noteDeleted(tx, rows);
  const groups = new Set(rows.map((row) => row.execution_group_id).filter((id) => id !== null));
  await deleteEmptyDeletions(tx, tenant, [...groups]);
  if (withEvents)
    await sql`delete from events v where v.tenant = ${tenant} and v.deployment_id = ${deploymentId}
      and not exists (select 1 from executions e where e.id = v.execution_id and not ${ofGone(gone, 'e')})`.execute(
      tx,
    );
}

/**
 * Deletes the ended execution that deleted a deployment, like the other executions of the deployment, which may have been deleted
 * while it was ending. Does nothing for any other execution.
 */
export async function deleteDeletion(
  tx: Tx<DB>,
  tenant: string,
  id: string,
  withEvents: boolean,
): Promise<void> {
  const { rows } = await sql<DeletedExecution & { execution_group_id: string | null; deletes_logs: boolean }>`
    delete from executions where tenant = ${tenant} and id = ${id} and phase = 'ended'
      and workflow_id = 'delete_deployment_environment'
    returning id, tenant, created_by, visibility, execution_group_id,
      coalesce(parameters->>'delete_logs' = 'true', false) as deletes_logs`.execute(tx);
  noteDeleted(tx, rows);
  const deleted = rows[0];
  if (!deleted) return;
  if (deleted.execution_group_id !== null)
    await deleteEmptyDeletions(tx, tenant, [deleted.execution_group_id]);
  if (withEvents || deleted.deletes_logs)
    await sql`delete from events where execution_id = ${id}`.execute(tx);
}

/** Deletes groups of executions that deleted deployments, once none of these is left (they are deleted with the deployments). */
async function deleteEmptyDeletions(tx: Tx<DB>, tenant: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`delete from execution_groups g where g.tenant = ${tenant} and g.id = any(${[...ids]}::text[])
    and g.workflow_id = 'delete_deployment_environment'
    and not exists (select 1 from executions e where e.tenant = g.tenant and e.execution_group_id = g.id)`.execute(
    tx,
  );
}

/** Deletes one ended execution with its events; does nothing when it does not exist. */
export async function deleteEnded(tx: Tx<DB>, tenant: string, id: string): Promise<void> {
  const { rows } = await sql<DeletedExecution>`
    delete from executions where tenant = ${tenant} and id = ${id} and phase = 'ended'
    returning id, tenant, created_by, visibility`.execute(tx);
  noteDeleted(tx, rows);
  if (rows.length > 0) await sql`delete from events where execution_id = ${id}`.execute(tx);
}
