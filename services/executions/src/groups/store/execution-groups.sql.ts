import { type Db, noteAfterCommit, sharedOrOwn, type Tx } from '@baton/postgres';
import type { ExecutionStatus } from '@baton/task-graph';
import { sql } from 'kysely';
import { WAIT_AFTER_FAIL_S } from '../../executions/domain/start-request';
import type { NewExecution } from '../../executions/store/executions.sql';
import type { ExecutionRow, Outcome } from '../../store/rows';
import type { DB } from '../../store/tables.gen';
import { awaitedIds } from '../../store/waiting-task';

type Reader = Db<DB>['query'] | Tx<DB>;

/** A row of `execution_groups`. Instants are ISO texts. */
export interface ExecutionGroupRow {
  tenant: string;
  id: string;
  deployment_group_id: string | null;
  workflow_id: string;
  concurrency: number;
  success_group_id: string | null;
  failure_group_id: string | null;
  visibility: string;
  created_by: string;
  created_at: string;
  has_queued: boolean;
  /** The execution whose stage has started the group. */
  parent_id: string | null;
}

/** Inserts a group; false when the tenant has a group with this id. */
export async function insertGroup(
  tx: Tx<DB>,
  group: Omit<ExecutionGroupRow, 'created_at' | 'success_group_id' | 'failure_group_id' | 'parent_id'> & {
    created_at: string | null;
    parent_id?: string;
  },
): Promise<boolean> {
  const { rows } = await sql`
    insert into execution_groups (tenant, id, deployment_group_id, workflow_id, concurrency, visibility, created_by, created_at, has_queued, parent_id)
    values (${group.tenant}, ${group.id}, ${group.deployment_group_id}, ${group.workflow_id}, ${group.concurrency},
      ${group.visibility}, ${group.created_by}, coalesce(${group.created_at}::timestamptz, app_now()), ${group.has_queued},
      ${group.parent_id ?? null})
    on conflict do nothing returning 1 as made`.execute(tx);
  return rows.length > 0;
}

/** Makes ended executions without a group, which the caller may see, members of a group; returns their ids. */
export async function associateExecutions(
  tx: Tx<DB>,
  group: { tenant: string; groupId: string; createdBy: string; isAdministrator: boolean },
  ids: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update executions set execution_group_id = ${group.groupId}
    where tenant = ${group.tenant} and id = any(${ids}::uuid[]) and phase = 'ended'
      and coalesce(execution_group_id, ${group.groupId}) = ${group.groupId}
      and ${sharedOrOwn({ username: group.createdBy, isAdministrator: group.isAdministrator })}
    returning id`.execute(tx);
  return rows.map((row) => row.id);
}

export async function readGroup(
  reader: Reader,
  tenant: string,
  id: string,
): Promise<ExecutionGroupRow | null> {
  const { rows } = await sql<ExecutionGroupRow>`
    select * from execution_groups where tenant = ${tenant} and id = ${id}`.execute(reader);
  return rows[0] ?? null;
}

/** Locks the group. The lock order for starting members is: group, guards, executions. */
export async function lockGroup(tx: Tx<DB>, tenant: string, id: string): Promise<ExecutionGroupRow | null> {
  const { rows } = await sql<ExecutionGroupRow>`
    select * from execution_groups where tenant = ${tenant} and id = ${id} for update`.execute(tx);
  return rows[0] ?? null;
}

export async function updateGroup(
  tx: Tx<DB>,
  tenant: string,
  id: string,
  change: Partial<
    Pick<ExecutionGroupRow, 'concurrency' | 'success_group_id' | 'failure_group_id' | 'has_queued'>
  >,
): Promise<void> {
  const sets = Object.entries(change)
    .filter(([, value]) => value !== undefined)
    .map(([column, value]) => sql`${sql.id(column)} = ${value}`);
  if (sets.length === 0) return;
  await sql`update execution_groups set ${sql.join(sets)} where tenant = ${tenant} and id = ${id}`.execute(
    tx,
  );
}

/** A member to insert; `outcome` when it is only recorded. */
export interface NewMember
  extends Pick<
    NewExecution,
    | 'id'
    | 'request_id'
    | 'payload_hash'
    | 'program'
    | 'deployment_id'
    | 'deployment_display_name'
    | 'deployment_made_by'
    | 'blueprint_id'
    | 'visibility'
    | 'parameters'
    | 'token_hash'
  > {
  outcome: Outcome | null;
  /** Whether its workflow is also started on the components of its deployment. */
  isCascading?: boolean;
}

/** Fields that all members share. */
export interface MemberDefaults {
  tenant: string;
  groupId: string;
  workflowId: string;
  createdBy: string;
  isForced: boolean;
  isSystemWorkflow: boolean;
  /** The execution whose stage starts them. */
  parentId?: string;
}

/**
 * Inserts members: queued, or ended with their outcome; their times rise in the given order. One statement; a member with a
 * repeated request id only joins the group. Returns the ids of the new rows.
 */
export async function insertMembers(
  tx: Tx<DB>,
  of: MemberDefaults,
  members: readonly NewMember[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string; is_new: boolean }>`
    insert into executions (id, tenant, request_id, payload_hash, workflow_id, program, deployment_id, deployment_display_name,
      deployment_made_by, blueprint_id, visibility, created_by, status, phase, parameters, is_system_workflow, is_forced, allow_custom_parameters,
      wait_after_fail_s, token_hash, execution_group_id, created_at, outcome, error, started_at, ended_at, last_event_seq,
      total_operations, finished_operations, parent_id, is_cascading)
    select m.id, ${of.tenant}, m.request_id, m.payload_hash, ${of.workflowId}, m.program, m.deployment_id, m.deployment_display_name,
      m.deployment_made_by, m.blueprint_id, m.visibility, ${of.createdBy}, coalesce(m.outcome ->> 'status', 'queued'),
      case when m.outcome is null then 'waiting' else 'ended' end, m.parameters, ${of.isSystemWorkflow}, ${of.isForced}, true,
      ${WAIT_AFTER_FAIL_S}, m.token_hash, ${of.groupId}, t.now + m.n * interval '1 microsecond', m.outcome, m.outcome ->> 'error',
      case when m.outcome is not null then app_now() end, case when m.outcome is not null then app_now() end,
      case when m.outcome is null then 0 else 2 end,
      case when m.outcome is not null then 0 end, case when m.outcome is not null then 0 end, ${of.parentId ?? null}::uuid,
      coalesce(m."isCascading", false)
    from (select app_now() as now) t, rows from (jsonb_to_recordset(${JSON.stringify(members)}::jsonb) as (id uuid, request_id text,
      payload_hash text, program text, deployment_id text, deployment_display_name text, deployment_made_by text, blueprint_id text, visibility text,
      parameters jsonb, token_hash text, outcome jsonb, "isCascading" boolean)) with ordinality as m(id, request_id, payload_hash, program, deployment_id,
      deployment_display_name, deployment_made_by, blueprint_id, visibility, parameters, token_hash, outcome, "isCascading", n)
    order by m.n on conflict (tenant, request_id) do update set execution_group_id = excluded.execution_group_id
      where executions.execution_group_id is null
    returning id, xmax = 0 as is_new`.execute(tx);
  const made = rows.filter((row) => row.is_new).map((row) => row.id);
  for (const id of made) noteAfterCommit(tx, id);
  return made;
}

/** Inserts the first and the last event of recorded members, in one statement. */
export async function insertRecordedEvents(
  tx: Tx<DB>,
  of: MemberDefaults,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const name = `'${of.workflowId}' workflow execution`;
  await sql`
    insert into events (tenant, execution_id, seq, is_log, event_type, message, blueprint_id, deployment_id,
      deployment_display_name, workflow_id, visibility, created_by, reported_at)
    select e.tenant, e.id, t.seq, false,
      case when t.seq = 1 then 'workflow_started' when e.status = 'terminated' then 'workflow_succeeded' else 'workflow_failed' end,
      case when t.seq = 1 then ${`Starting ${name}`} when e.status = 'terminated' then ${`${name} succeeded`}
        else ${`${name} failed: `} || coalesce(e.error, '') end,
      e.blueprint_id, e.deployment_id, e.deployment_display_name, e.workflow_id, e.visibility, e.created_by, app_now()
    from executions e cross join (values (1), (2)) as t(seq)
    where e.id = any(${[...ids]}::uuid[]) and e.phase = 'ended' order by e.id, t.seq`.execute(tx);
}

/**
 * Returns members that may start, oldest first: no execution of their deployment is active or queued before them. For a group
 * without room, returns only members that an operation waits for: they may use the room of the execution in which that operation
 * runs.
 */
export async function startableMembers(
  reader: Reader,
  group: Pick<ExecutionGroupRow, 'tenant' | 'id' | 'concurrency'>,
  room: number,
  { which, among = null, except = [] }: StartableOf,
): Promise<ExecutionRow[]> {
  if (group.concurrency === 0 || room <= 0) return [];
  const { rows } = await sql<ExecutionRow>`
    with free as materialized (select ${group.concurrency}::integer - (${activeOf(group)})::integer as places)
    select q.* from executions q, free
    where q.tenant = ${group.tenant} and q.execution_group_id = ${group.id} and ${mayStart(which)}
      and (free.places > 0 or q.id in ${awaitedIds})
      and q.id <> all(${[...except]}::uuid[]) and ${among === null ? sql`true` : sql`q.id = any(${[...among]}::uuid[])`}
    order by q.created_at, q.id
    limit (select case when places > 0 then least(${room}::integer, places) else ${room}::integer end from free)`.execute(
    reader,
  );
  return rows;
}

/** All members; or, while a system-wide execution waits for its turn, only those whose end another execution waits for. */
export type Startable = 'all' | 'awaited';

interface StartableOf {
  which: Startable;
  /** Only these members; null: all. */
  among?: readonly string[] | null;
  except?: readonly string[];
}

/** Condition on `executions q`: no other execution of its deployment is active, and no operation is left of one that has ended. */
const nothingAtWork = sql`not exists (
  select 1 from executions b where b.tenant = q.tenant and b.deployment_id = q.deployment_id and b.id <> q.id
    and b.phase not in ('waiting', 'ended'))
  and not has_left_runs(q.tenant, q.deployment_id, q.id)`;

/** Condition on `executions q`: no other execution of its deployment was queued before it. */
const nothingEarlier = sql`not exists (
  select 1 from executions b where b.tenant = q.tenant and b.deployment_id = q.deployment_id
    and b.phase = 'waiting' and b.status = 'queued' and (b.created_at, b.id) < (q.created_at, q.id))`;

/** Condition on `executions q`: another execution waits for its end. */
const isAwaited = sql`(q.parent_id is not null or q.id in ${awaitedIds})`;

/**
 * Condition on `executions q`: it is queued, and no other execution of its deployment is active or was queued before it. An
 * awaited execution does not wait for earlier queued ones: these may themselves wait for room, which the waiting execution
 * occupies.
 */
const mayStart = (which: Startable) => sql`(q.phase = 'waiting' and q.status = 'queued'
  and ${which === 'awaited' ? isAwaited : sql`true`}
  and (q.is_forced or (${nothingAtWork} and (${isAwaited} or ${nothingEarlier}))))`;

/** Locks the guard rows of many deployments, in order. */
export async function lockGuards(
  tx: Tx<DB>,
  tenant: string,
  deploymentIds: readonly string[],
): Promise<void> {
  const ids = [...new Set(deploymentIds)].sort();
  await sql`insert into deployment_guards (tenant, deployment_id)
    select ${tenant}, d from unnest(${ids}::text[]) as d order by d on conflict do nothing`.execute(tx);
  await sql`select 1 from deployment_guards where tenant = ${tenant} and deployment_id = any(${ids}::text[])
    order by deployment_id for update`.execute(tx);
}

type StartedMember = Pick<
  ExecutionRow,
  'id' | 'tenant' | 'deployment_id' | 'workflow_id' | 'is_dry_run' | 'version'
>;

/** Sets queued -> pending for those of `ids` that may still start, under their guards. */
export async function startMembers(
  tx: Tx<DB>,
  ids: readonly string[],
  which: Startable,
): Promise<StartedMember[]> {
  const { rows } = await sql<StartedMember>`
    update executions q set status = 'pending', phase = 'planning'
    where q.id = any(${[...ids]}::uuid[]) and ${mayStart(which)}
    returning q.id, q.tenant, q.deployment_id, q.workflow_id, q.is_dry_run, q.version`.execute(tx);
  for (const { id: started } of rows) noteAfterCommit(tx, started);
  return rows;
}

/** Returns whether members wait to be started or to be resumed. */
export async function hasQueuedMembers(tx: Tx<DB>, tenant: string, id: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 as found from executions where tenant = ${tenant} and execution_group_id = ${id} and phase = 'waiting'
    union all
    select 1 from executions where tenant = ${tenant} and execution_group_id = ${id} and resume_wish is not null
    limit 1`.execute(tx);
  return rows.length > 0;
}

/** Notes the wish to resume on every failed or cancelled member; returns their number. */
export async function wishResume(
  tx: Tx<DB>,
  tenant: string,
  id: string,
  wish: 'resume' | 'force-resume',
): Promise<number> {
  const { rows } = await sql`
    update executions set resume_wish = ${wish}
    where tenant = ${tenant} and execution_group_id = ${id} and phase = 'ended' and status in ('failed', 'cancelled')
    returning 1 as wished`.execute(tx);
  return rows.length;
}

/**
 * Deletes the wish to resume. Returns the phase of the execution, which may have been resumed just before; null when it was
 * deleted.
 */
export async function dropWish(tx: Tx<DB>, executionId: string): Promise<string | null> {
  const { rows } = await sql<{ phase: string }>`
    update executions set resume_wish = null where id = ${executionId} returning phase`.execute(tx);
  return rows[0]?.phase ?? null;
}

/**
 * Returns members to resume, as many as the group and the manager have room for, without those of `except`; no other execution of
 * their deployment is active.
 */
export async function resumableMembers(
  reader: Reader,
  group: Pick<ExecutionGroupRow, 'tenant' | 'id' | 'concurrency'>,
  room: number,
  except: readonly string[],
): Promise<{ id: string }[]> {
  const { rows } = await sql<{ id: string }>`
    select q.id from executions q
    where q.tenant = ${group.tenant} and q.execution_group_id = ${group.id} and q.resume_wish is not null and ${nothingAtWork}
      and q.id <> all(${[...except]}::uuid[])
    order by q.created_at, q.id
    limit greatest(0, least(${room}::integer, ${group.concurrency}::integer - (${activeOf(group)})::integer))`.execute(
    reader,
  );
  return rows;
}

const activeOf = (group: Pick<ExecutionGroupRow, 'tenant' | 'id'>) => sql`select count(*) from executions a
  where a.tenant = ${group.tenant} and a.execution_group_id = ${group.id} and a.phase not in ('waiting', 'ended')`;

const ofGroup = sql`executions q where q.tenant = g.tenant and q.execution_group_id = g.id`;

/**
 * Returns groups, oldest first: those with room for a member that may start or be resumed now, those with a member that needs no
 * room, and those without waiting members. A group whose members are all blocked is left out, so that other groups do not wait
 * for it. `except`: `<tenant>/<id>` of groups to leave out; `full`: tenants whose quota is reached.
 */
export async function groupsWithRoom(
  reader: Reader,
  limit: number,
  which: Startable,
  { except, full }: { except: readonly string[]; full: readonly string[] },
): Promise<Pick<ExecutionGroupRow, 'tenant' | 'id' | 'concurrency'>[]> {
  const { rows } = await sql<Pick<ExecutionGroupRow, 'tenant' | 'id' | 'concurrency'>>`
    with awaited as materialized (select q.tenant, q.execution_group_id from executions q
      where q.execution_group_id is not null and q.id in ${awaitedIds} and ${mayStart(which)})
    select g.tenant, g.id, g.concurrency from execution_groups g
    where g.has_queued and g.concurrency > 0 and g.tenant || '/' || g.id <> all(${[...except]}::text[])
      and (g.tenant <> all(${[...full]}::text[]) or g.parent_id is not null
        or exists (select 1 from awaited w where w.tenant = g.tenant and w.execution_group_id = g.id)
        or exists (select 1 from ${ofGroup} and q.phase = 'waiting' and q.is_system_workflow))
      and (exists (select 1 from awaited w where w.tenant = g.tenant and w.execution_group_id = g.id)
        or (g.concurrency > (select count(*) from executions a
            where a.tenant = g.tenant and a.execution_group_id = g.id and a.phase not in ('waiting', 'ended'))
          and (exists (select 1 from ${ofGroup} and ${mayStart(which)})
            or (${which === 'all' ? sql`true` : sql`g.parent_id is not null`}
              and exists (select 1 from ${ofGroup} and q.resume_wish is not null and ${nothingAtWork}))
            or not (exists (select 1 from ${ofGroup} and q.phase = 'waiting')
              or exists (select 1 from ${ofGroup} and q.resume_wish is not null)))))
    order by g.created_at limit ${limit}`.execute(reader);
  return rows;
}

/** Ends all waiting members as cancelled, and deletes all wishes to resume; the engine delivers the ends. Returns the ids. */
export async function cancelQueuedMembers(
  tx: Tx<DB>,
  tenant: string,
  id: string,
  status: ExecutionRow['status'],
): Promise<string[]> {
  const outcome: Outcome = { status: 'cancelled', error: '' };
  await sql`update executions set resume_wish = null
    where tenant = ${tenant} and execution_group_id = ${id} and resume_wish is not null`.execute(tx);
  const { rows } = await sql<{ id: string }>`
    update executions set status = ${status}, phase = 'ending', outcome = ${JSON.stringify(outcome)}::jsonb,
      cancel_requested_at = app_now(), error = ''
    where tenant = ${tenant} and execution_group_id = ${id} and phase = 'waiting' returning id`.execute(tx);
  for (const cancelled of rows) noteAfterCommit(tx, cancelled.id);
  return rows.map((row) => row.id);
}

/** Returns some of the members that ended without success. */
export async function endedBadly(
  reader: Reader,
  tenant: string,
  id: string,
): Promise<Pick<ExecutionRow, 'id' | 'deployment_id' | 'status' | 'error'>[]> {
  const { rows } = await sql<Pick<ExecutionRow, 'id' | 'deployment_id' | 'status' | 'error'>>`
    select id, deployment_id, status, error from executions
    where tenant = ${tenant} and execution_group_id = ${id} and phase = 'ended' and status <> 'terminated'
    order by created_at, id limit 20`.execute(reader);
  return rows;
}

/** Returns the members in one of `statuses`, in the order of their creation. */
export async function membersIn(
  reader: Reader,
  tenant: string,
  id: string,
  statuses: readonly ExecutionStatus[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from executions where tenant = ${tenant} and execution_group_id = ${id} and status = any(${[...statuses]}::text[])
    order by created_at, id`.execute(reader);
  return rows.map((row) => row.id);
}
