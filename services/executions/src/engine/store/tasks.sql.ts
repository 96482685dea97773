import { requireFormat } from '@baton/kernel';
import type { AnyQuery, AnyTx, Db, Tx } from '@baton/postgres';
import { type OperationPayload, progressOf } from '@baton/task-graph';
import { type RawBuilder, sql } from 'kysely';
import { behind, type Place, type Placed, placedAt } from '../../store/round.sql';
import { GRAPH_FORMAT, type KilledRun, type StoredGraph, type StoredTask } from '../../store/rows';
import type { DB } from '../../store/tables.gen';
import { taskOfRow, tasksOfGraph } from './task-document';
import { type StoredMarks, timesOfMarks } from './task-times';

type Reader = Db<DB>['query'] | Tx<DB>;

/** @throws AppError when a later release has written the graph in a format that is unknown here. */
export async function readGraph(reader: Reader, graphId: string): Promise<StoredGraph | null> {
  const { rows } = await sql<StoredGraph>`select * from tasks_graphs where id = ${graphId}`.execute(reader);
  if (rows[0]) requireGraphFormat(rows[0]);
  return rows[0] ?? null;
}

/** @throws AppError when a later release has written the graph in a format that is unknown here. */
export const requireGraphFormat = (head: Pick<StoredGraph, 'id' | 'format'>) =>
  requireFormat(GRAPH_FORMAT, head.format, `graph ${head.id}`);

const COLUMNS_BUT_RESULT =
  sql.raw(`id, graph_id, execution_id, idx, spec, state, attempt, losses, retries, not_before, error, deferral,
  worker_id, lease_until, version, created_at`);
const COLUMNS = sql`${COLUMNS_BUT_RESULT}, result`;

/** Fields of a graph that are needed to read its tasks. */
export type GraphTasks = Pick<StoredGraph, 'id' | 'format' | 'execution_id' | 'created_at' | 'tasks'>;

/**
 * Returns every task of a graph in order of idx, and the idx of the tasks without a row. Results may be tens of MB together, so
 * they are null without `withResults`.
 * @throws AppError when the format of the graph is unknown here.
 */
export async function readTasks(
  reader: AnyQuery | AnyTx,
  head: GraphTasks,
  { withResults }: { withResults: boolean },
): Promise<{ tasks: StoredTask[]; rowless: Set<number> }> {
  requireGraphFormat(head);
  // Marks before rows: a step in between moves tasks from marks into rows, never back. Rows read first would miss these tasks.
  const marks = head.tasks === null ? [] : await readMarks(reader, head.id);
  const columns = withResults ? COLUMNS : sql`${COLUMNS_BUT_RESULT}, null::jsonb as result`;
  const { rows } = await sql<StoredTask>`
    select ${columns} from tasks where graph_id = ${head.id} order by idx`.execute(reader);
  if (head.tasks === null) return { tasks: rows, rowless: new Set() };
  const tasks = tasksOfGraph(
    head,
    marks.map((row) => row.marks),
    rows,
  );
  const rowless = new Set(tasks.keys());
  for (const row of rows) rowless.delete(row.idx);
  return { tasks, rowless };
}

/** Returns the marks of a graph, oldest first. */
export async function readMarks(reader: AnyQuery | AnyTx, graphId: string): Promise<StoredMarks[]> {
  const { rows } = await sql<StoredMarks>`
    select marks, version, created_at from task_marks where graph_id = ${graphId} order by version`.execute(
    reader,
  );
  return rows;
}

/**
 * Gives every task of a locked execution's graph a row, for commands that change more than a step does. `version`: the version of
 * the execution after this change, since it changes each of these tasks.
 */
export async function storeAllTasks(tx: Tx<DB>, head: GraphTasks, version: number): Promise<StoredTask[]> {
  const { tasks, rowless } = await readTasks(tx, head, { withResults: true });
  if (head.tasks === null) return tasks;
  const times = timesOfMarks(await readMarks(tx, head.id));
  const missing = tasks
    .filter(({ idx }) => rowless.has(idx))
    .map((task) => ({ ...task, ...times.get(task.idx) }));
  await sql`insert into tasks (id, graph_id, execution_id, idx, spec, state, attempt, losses, retries, version, created_at,
      started_at, ended_at, agent)
    select t.id, ${head.id}::uuid, ${head.execution_id}::uuid, t.idx, t.spec, t.state, 0, 0, 0, ${version}::bigint, t.created_at,
      t.started_at, t.ended_at, t.spec->'payload'->>'agent'
    from jsonb_to_recordset(${JSON.stringify(missing)}::jsonb)
      as t(id uuid, idx int, spec jsonb, state text, created_at timestamptz, started_at timestamptz, ended_at timestamptz)`.execute(
    tx,
  );
  // Subgraphs that got their rows when something in them failed, long after they began: the marks have their starts.
  const begun = [...times]
    .filter(([idx]) => !rowless.has(idx))
    .map(([idx, { started_at }]) => ({ idx, started_at }));
  await sql`update tasks set started_at = t.started_at
    from jsonb_to_recordset(${JSON.stringify(begun)}::jsonb) as t(idx int, started_at timestamptz)
    where tasks.graph_id = ${head.id} and tasks.idx = t.idx`.execute(tx);
  await sql`delete from task_marks where graph_id = ${head.id}`.execute(tx);
  await sql`update tasks_graphs set tasks = null where id = ${head.id}`.execute(tx);
  return tasks;
}

/**
 * Renews the leases that `workerId` still holds; returns the ids that it holds and the ids to kill. A step locks its tasks in an
 * order of its own. To avoid a deadlock, a task that a step has locked is waited for with no other task locked. So this runs
 * without a transaction.
 */
export async function renewLeases(
  db: Db<DB>['query'],
  workerId: string,
  taskIds: readonly string[],
  leaseMs: number,
): Promise<{ held: Set<string>; kill: string[] }> {
  const renew = async (ids: readonly string[], wait: RawBuilder<unknown>) => {
    const { rows } = await sql<{ id: string; is_kill_requested: boolean }>`
      update tasks set lease_until = app_now() + make_interval(secs => ${leaseMs / 1000})
      where id in (select id from tasks where id = any(${[...ids]}::uuid[]) and worker_id = ${workerId}
        and state in ('sent', 'started') for update ${wait})
      returning id, is_kill_requested`.execute(db);
    return rows;
  };
  const rows = await renew(taskIds, sql`skip locked`);
  const free = new Set(rows.map((row) => row.id));
  const left = taskIds.filter((id) => !free.has(id));
  for (const id of await heldAmong(db, workerId, left)) rows.push(...(await renew([id], sql``)));
  return {
    held: new Set(rows.map((row) => row.id)),
    kill: rows.filter((row) => row.is_kill_requested).map((row) => row.id),
  };
}

/** Returns those of the tasks that the worker holds: many of the others would be one statement each. */
async function heldAmong(
  db: Db<DB>['query'],
  workerId: string,
  taskIds: readonly string[],
): Promise<string[]> {
  if (taskIds.length === 0) return [];
  const { rows } = await sql<{ id: string }>`
    select id from tasks where id = any(${[...taskIds]}::uuid[]) and worker_id = ${workerId}
      and state in ('sent', 'started')`.execute(db);
  return rows.map(({ id }) => id);
}

/** Records that a worker lives, and its description of itself (JSON text). */
export async function noteWorker(db: Db<DB>, workerId: string, about: string): Promise<void> {
  await sql`insert into workers (id, about) values (${workerId}, ${about}::jsonb)
    on conflict (id) do update set about = excluded.about, last_seen = app_now()`.execute(db.query);
}

/**
 * Returns the ms until the first lease expires: below 0 when one has expired, null without leases. It reads an index over the
 * leases, so it costs next to nothing.
 */
export async function msToExpiry(reader: Reader): Promise<number | null> {
  const { rows } = await sql<{ ms: number | null }>`
    select (extract(epoch from min(lease_until) - app_now()) * 1000)::float8 as ms from tasks`.execute(
    reader,
  );
  return rows[0]!.ms;
}

export type ExpiredLease = Placed & { execution_id: string; idx: number; attempt: number };

/** Returns the runs of present graphs whose worker went silent, also of graphs that have ended: nobody runs those any more. */
export async function expiredLeases(
  reader: Reader,
  limit: number,
  place: Place | null,
): Promise<ExpiredLease[]> {
  const { rows } = await sql<ExpiredLease>`
    select t.id, t.execution_id, t.idx, t.attempt, ${placedAt(sql`t.lease_until`)}
    from tasks t join executions e on e.graph_id = t.graph_id
    where t.lease_until < app_now() and t.state in ('sent', 'started') and t.worker_id is not null
      and ${behind(place, sql`t.lease_until`, sql`t.id`)}
    order by t.lease_until, t.id limit ${limit}`.execute(reader);
  return rows;
}

/**
 * Returns ready operations that nobody has claimed for `olderThanMs`: their wake-up was lost or came too early. An operation that
 * was lost with a worker is returned sooner, after `lostOlderThanMs`: that worker may be frozen and hold the new wake-up as well.
 * Operations of agents are not among them: agents ask by themselves, and the time of their dispatch must stay
 * (engine/commands/give-up-agents.ts).
 */
export async function unclaimedTasks(
  reader: Reader,
  olderThanMs: number,
  lostOlderThanMs: number,
  limit: number,
): Promise<{ id: string; execution_id: string; tenant: string; is_workflow: boolean }[]> {
  const { rows } = await sql<{ id: string; execution_id: string; tenant: string; is_workflow: boolean }>`
    select t.id, t.execution_id, e.tenant, t.spec->'payload' ? 'isWorkflowCode' as is_workflow from tasks t join executions e on e.id = t.execution_id
    where t.state = 'sent' and t.worker_id is null and t.agent is null and e.phase = 'running'
      and t.dispatched_at < app_now() - make_interval(secs =>
        case when t.losses > 0 then ${lostOlderThanMs / 1000} else ${olderThanMs / 1000} end::float8)
    order by t.dispatched_at limit ${limit}`.execute(reader);
  return rows;
}

/**
 * Sets `dispatched_at` of tasks that were announced again to now, so that the next rounds skip them for a while. A task that a
 * step has locked is left out: it is being claimed.
 */
export async function touchDispatched(tx: Tx<DB>, taskIds: string[]): Promise<void> {
  await sql`update tasks set dispatched_at = app_now()
    where id in (select id from tasks where id = any(${taskIds}::uuid[]) for update skip locked)`.execute(tx);
}

/**
 * How long a run at an agent that was told to stop holds up its deployment: an agent that is out of reach would keep its lease for
 * many minutes. A connected one renews the lease until the run has ended, which takes some seconds.
 */
const AGENT_STOP_S = 60;

/** Marks the runs that workers must stop; returns these runs. */
export async function requestKill(tx: Tx<DB>, graphId: string): Promise<KilledRun[]> {
  const { rows } = await sql<KilledRun>`
    update tasks set is_kill_requested = true,
      lease_until = case when agent is null then lease_until
        else least(lease_until, app_now() + make_interval(secs => ${AGENT_STOP_S})) end
    where graph_id = ${graphId} and state in ('sent', 'started') and worker_id is not null returning id, attempt`.execute(
    tx,
  );
  return rows;
}

/** Returns tasks that have rows by their ids, in no order. */
export async function readTasksById(reader: Reader, ids: string[]): Promise<StoredTask[]> {
  const { rows } = await sql<StoredTask>`
    select ${COLUMNS} from tasks where id = any(${ids}::uuid[])`.execute(reader);
  return rows;
}

/** Stores new dependencies of a task: only a resume changes them. */
export async function updateDeps(tx: Tx<DB>, taskId: string, deps: readonly number[]): Promise<void> {
  await sql`update tasks set spec = jsonb_set(spec, '{deps}', ${JSON.stringify(deps)}::jsonb) where id = ${taskId}`.execute(
    tx,
  );
}

/** Stores the new payload of an operation that a resume finds changed; `version`: that of the execution after this change. */
export async function updatePayload(
  tx: Tx<DB>,
  taskId: string,
  payload: OperationPayload,
  version: number,
): Promise<void> {
  await sql`update tasks set spec = jsonb_set(spec, '{payload}', ${JSON.stringify(payload)}::jsonb), agent = ${payload.agent ?? null},
      version = ${version}
    where id = ${taskId}`.execute(tx);
}

const RESULT_LOST = JSON.stringify({
  type: 'ResultLost',
  message: 'Its graph had ended before it did',
  recoverable: false,
});

/**
 * Ends the operations of graphs that were cut off and replaced by later graphs: nobody takes their results, and their leases have
 * expired, so nobody runs them. Rows that a step has locked are left for the next call. The executions get the next version, as
 * by a step, so that a query for changes since a version finds these operations. Returns the ids of these executions.
 */
export async function endLeftRuns(tx: Tx<DB>): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with left_runs as materialized (
      select t.id, t.execution_id from executions e join tasks t on e.id = t.execution_id
      where t.lease_until < app_now() and t.state in ('sent', 'started') and e.graph_id is distinct from t.graph_id
      for update of e, t skip locked),
    moved as (
      update executions e set version = e.version + 1
      where e.id in (select execution_id from left_runs) returning e.id, e.version),
    ended as (
      update tasks t set lease_until = null, state = 'failed', error = ${RESULT_LOST}::jsonb, ended_at = app_now(), version = m.version
      from left_runs l join moved m on m.id = l.execution_id where t.id = l.id)
    select id from moved`.execute(tx);
  return rows.map(({ id }) => id);
}

/** Counts the operations in all graphs of an execution but one, and those of them that have ended. */
export async function countOtherGraphs(
  tx: Tx<DB>,
  executionId: string,
  graphId: string,
): Promise<{ total: number; finished: number }> {
  const { rows: heads } = await sql<GraphTasks>`
    select id, format, execution_id, created_at, tasks from tasks_graphs
    where execution_id = ${executionId} and id <> ${graphId}`.execute(tx);
  const counts = { total: 0, finished: 0 };
  for (const head of heads) {
    const { tasks } = await readTasks(tx, head, { withResults: false });
    const { total, finished } = progressOf(tasks.map(taskOfRow));
    counts.total += total;
    counts.finished += finished;
  }
  return counts;
}

/** Renames the stopped graphs of stages that are planned again. */
export async function renameStoppedGraphs(
  tx: Tx<DB>,
  executionId: string,
  kept: readonly string[],
): Promise<void> {
  await sql`update tasks_graphs set name = name || ' (stopped ' || id || ')'
    where execution_id = ${executionId} and name <> all(${kept}::text[]) and name not like '%(stopped %'`.execute(
    tx,
  );
}
