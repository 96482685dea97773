import { requireFormat } from '@baton/kernel';
import type { AnyQuery, AnyTx, Db, Tx } from '@baton/postgres';
import { type OperationPayload, progressOf } from '@baton/task-graph';
import { type RawBuilder, sql } from 'kysely';
import { behind, type Place, type Placed, placedAt } from '../../store/round.sql';
import { GRAPH_FORMAT, type KilledRun, type StoredGraph, type StoredTask } from '../../store/rows';
import type { DB } from '../../store/tables.gen';
import { type TaskMarks, taskOfRow, tasksOfGraph } from './task-document';

type Reader = Db<DB>['query'] | Tx<DB>;

/** @throws AppError when a later release has written the graph in a format that is unknown here. */
export async function readGraph(reader: Reader, graphId: string): Promise<StoredGraph | null> {
  const { rows } = await sql<StoredGraph>`select * from tasks_graphs where id = ${graphId}`.execute(reader);
  if (rows[0]) requireGraphFormat(rows[0]);
  return rows[0] ?? null;
}

const requireGraphFormat = (head: Pick<StoredGraph, 'id' | 'format'>) =>
  requireFormat(GRAPH_FORMAT, head.format, `graph ${head.id}`);

const COLUMNS_BUT_RESULT =
  sql.raw(`id, graph_id, execution_id, idx, spec, state, attempt, losses, retries, not_before, error, deferral,
  worker_id, lease_until, version, created_at`);
const COLUMNS = sql`${COLUMNS_BUT_RESULT}, result`;

/** What of a graph is needed to know its tasks. */
export type GraphTasks = Pick<StoredGraph, 'id' | 'format' | 'execution_id' | 'created_at' | 'tasks'>;

/**
 * Every task of a graph in order of idx, and which of them have no row. Results may be tens of MB together: who does not
 * look at them has them as null.
 * @throws AppError when the format of the graph is unknown here.
 */
export async function readTasks(
  reader: AnyQuery | AnyTx,
  head: GraphTasks,
  { withResults }: { withResults: boolean },
): Promise<{ tasks: StoredTask[]; rowless: Set<number> }> {
  requireGraphFormat(head);
  // Marks before rows: what a step behind that has marked would miss its row, never the other way round.
  const marks =
    head.tasks === null
      ? []
      : (
          await sql<{ marks: TaskMarks }>`
            select marks from task_marks where graph_id = ${head.id} order by version`.execute(reader)
        ).rows;
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

/** Gives every task of a locked execution's graph a row, for what changes more than a step does. */
export async function storeAllTasks(tx: Tx<DB>, head: GraphTasks): Promise<StoredTask[]> {
  const { tasks, rowless } = await readTasks(tx, head, { withResults: true });
  if (head.tasks === null) return tasks;
  const missing = tasks.filter(({ idx }) => rowless.has(idx));
  await sql`insert into tasks (id, graph_id, execution_id, idx, spec, state, attempt, losses, retries, version, created_at)
    select t.id, ${head.id}::uuid, ${head.execution_id}::uuid, t.idx, t.spec, t.state, 0, 0, 0, 0, t.created_at
    from jsonb_to_recordset(${JSON.stringify(missing)}::jsonb)
      as t(id uuid, idx int, spec jsonb, state text, created_at timestamptz)`.execute(tx);
  await sql`delete from task_marks where graph_id = ${head.id}`.execute(tx);
  await sql`update tasks_graphs set tasks = null where id = ${head.id}`.execute(tx);
  return tasks;
}

/**
 * Renews the leases that `workerId` still holds; answers the ids that it holds and those to kill. A step locks the tasks
 * that it writes in an order of its own: what one has locked is waited for with no other task locked. So this takes no
 * transaction.
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
  for (const id of taskIds) if (!free.has(id)) rows.push(...(await renew([id], sql``)));
  return {
    held: new Set(rows.map((row) => row.id)),
    kill: rows.filter((row) => row.is_kill_requested).map((row) => row.id),
  };
}

/** A worker lives, and this is what it says of itself (JSON text). */
export async function noteWorker(db: Db<DB>, workerId: string, about: string): Promise<void> {
  await sql`insert into workers (id, about) values (${workerId}, ${about}::jsonb)
    on conflict (id) do update set about = excluded.about, last_seen = app_now()`.execute(db.query);
}

/**
 * Ms until the first lease runs out, below 0 when one has, null without leases: by an index over the leases, so that
 * looking costs next to nothing.
 */
export async function msToExpiry(reader: Reader): Promise<number | null> {
  const { rows } = await sql<{ ms: number | null }>`
    select (extract(epoch from min(lease_until) - app_now()) * 1000)::float8 as ms from tasks`.execute(
    reader,
  );
  return rows[0]!.ms;
}

export type ExpiredLease = Placed & { execution_id: string; idx: number; attempt: number };

/** Runs of present graphs whose worker went silent; also of graphs that have ended: nobody runs those any more. */
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
 * Ready operations that nobody claimed for a while: their wake-up was lost or came too early. Of those that were lost
 * with a worker sooner: that worker may be frozen and hold the new wake-up as well.
 */
export async function unclaimedTasks(
  reader: Reader,
  olderThanMs: number,
  lostOlderThanMs: number,
  limit: number,
): Promise<{ id: string; execution_id: string; tenant: string; is_workflow: boolean }[]> {
  const { rows } = await sql<{ id: string; execution_id: string; tenant: string; is_workflow: boolean }>`
    select t.id, t.execution_id, e.tenant, t.spec->'payload' ? 'isWorkflowCode' as is_workflow from tasks t join executions e on e.id = t.execution_id
    where t.state = 'sent' and t.worker_id is null and e.phase = 'running'
      and t.dispatched_at < app_now() - make_interval(secs =>
        case when t.losses > 0 then ${lostOlderThanMs / 1000} else ${olderThanMs / 1000} end::float8)
    order by t.dispatched_at limit ${limit}`.execute(reader);
  return rows;
}

/**
 * Puts fresh time on tasks that were announced again, so that the next round leaves them alone for a while. One that a
 * step has locked just now is being claimed.
 */
export async function touchDispatched(tx: Tx<DB>, taskIds: string[]): Promise<void> {
  await sql`update tasks set dispatched_at = app_now()
    where id in (select id from tasks where id = any(${taskIds}::uuid[]) for update skip locked)`.execute(tx);
}

/** Marks what workers must stop; answers what was running. */
export async function requestKill(tx: Tx<DB>, graphId: string): Promise<KilledRun[]> {
  const { rows } = await sql<KilledRun>`
    update tasks set is_kill_requested = true
    where graph_id = ${graphId} and state in ('sent', 'started') and worker_id is not null returning id, attempt`.execute(
    tx,
  );
  return rows;
}

/** Tasks that have rows by their ids, in no order. */
export async function readTasksById(reader: Reader, ids: string[]): Promise<StoredTask[]> {
  const { rows } = await sql<StoredTask>`
    select ${COLUMNS} from tasks where id = any(${ids}::uuid[])`.execute(reader);
  return rows;
}

/** New dependencies of a task: only a resume changes them. */
export async function updateDeps(tx: Tx<DB>, taskId: string, deps: readonly number[]): Promise<void> {
  await sql`update tasks set spec = jsonb_set(spec, '{deps}', ${JSON.stringify(deps)}::jsonb) where id = ${taskId}`.execute(
    tx,
  );
}

/** What an operation is to do, where a resume finds it changed. */
export async function updatePayload(tx: Tx<DB>, taskId: string, payload: OperationPayload): Promise<void> {
  await sql`update tasks set spec = jsonb_set(spec, '{payload}', ${JSON.stringify(payload)}::jsonb) where id = ${taskId}`.execute(
    tx,
  );
}

const RESULT_LOST = JSON.stringify({
  type: 'ResultLost',
  message: 'Its graph had ended before it did',
  recoverable: false,
});

/**
 * Operations of graphs that were cut off and that others have followed: nobody takes their results, and by now nobody runs
 * them. What a step has locked comes next time.
 */
export async function endLeftRuns(tx: Tx<DB>): Promise<void> {
  await sql`
    update tasks set lease_until = null, state = 'failed', error = ${RESULT_LOST}::jsonb where id in (
      select t.id from tasks t join executions e on e.id = t.execution_id
      where t.lease_until < app_now() and t.state in ('sent', 'started') and e.graph_id is distinct from t.graph_id
      for update of t skip locked)`.execute(tx);
}

/** Operations in all graphs of an execution but one, and how many of them have ended. */
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

/** Gives the stopped graphs of stages that are planned again other names. */
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
