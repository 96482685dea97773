import type { AnyQuery } from '@baton/postgres';
import type { TaskSpec } from '@baton/task-graph';
import { sql } from 'kysely';
import type { StoredGraph, StoredTask } from '../../store/rows';
import { taskIdOf, UNTOUCHED, unpackTasks } from './task-document';
import { type MarkedTask, type StoredMarks, type TaskTimes, timesOfMarks } from './task-times';
import { readMarks, requireGraphFormat } from './tasks.sql';

/** A task as it is shown to people. */
export interface TaskView
  extends Omit<StoredTask, 'execution_id' | 'spec' | 'lease_until' | 'result' | 'losses' | 'version'>,
    TaskTimes,
    TaskGlance {
  /** Null: it has not changed, and is only counted. */
  spec: StoredTask['spec'] | null;
}

/** Fields of a task that the counts need. */
export interface TaskGlance extends Pick<StoredTask, 'state' | 'not_before' | 'deferral'> {
  hasChanged: boolean;
  /** Whether the task is the code of the workflow, which is in the graph only to have a lease. */
  isCode: boolean;
}

/** Fields of a graph that are needed to read its tasks. */
export type ViewedGraph = Pick<StoredGraph, 'id' | 'format' | 'created_at'> & {
  /** Null: each task has a row. `load`: the bytes are read from the database unless the caller has the tasks in memory. */
  tasks: StoredGraph['tasks'] | 'load';
};

export interface ViewWish {
  /** Only tasks that a step after this version of the execution changed are returned whole; null: all tasks. */
  since: number | null;
  /** The tasks of the graph's document by idx, where the caller has them in memory. */
  document?: readonly TaskSpec[] | null;
}

/** The tasks of a graph by idx. Most of ten thousand are only counted: a task is put together when `task` is called. */
export interface GraphView {
  length: number;
  glance(idx: number): TaskGlance;
  task(idx: number): TaskView;
  /** Null: there is no such task. */
  idOf(idx: number): string | null;
}

/**
 * Returns the tasks of a graph. For tasks that have not changed since version `since`, the database returns numbers and states
 * only. A graph that is younger than `since` has changed as a whole.
 * @throws AppError when the format of the graph is unknown here.
 */
export async function readGraphView(
  reader: AnyQuery,
  head: ViewedGraph,
  { since, document }: ViewWish,
): Promise<GraphView> {
  requireGraphFormat(head);
  // Order of the reads: document, marks, rows. A step or a resume in between moves tasks into rows, never out of them.
  const specs = await readDocument(reader, head, document ?? null);
  const marks = specs === null ? [] : await readMarks(reader, head.id);
  const from = since !== null && (await isOlder(reader, head.id, marks, since)) ? since : null;
  const rows = await readRows(reader, head.id, from);
  return viewOf(head, { specs: specs ?? [], marks: timesOfMarks(marks), rows, since: from });
}

/** Null: each task has a row. */
async function readDocument(
  reader: AnyQuery,
  { id, tasks }: ViewedGraph,
  known: readonly TaskSpec[] | null,
): Promise<readonly TaskSpec[] | null> {
  if (tasks === null) return null;
  if (known !== null) return known;
  if (tasks !== 'load') return unpackTasks(tasks);
  const { rows } = await sql<{
    tasks: Buffer | null;
  }>`select tasks from tasks_graphs where id = ${id}`.execute(reader);
  return rows[0]?.tasks ? unpackTasks(rows[0].tasks) : null;
}

/** Returns whether the graph existed at version `since`: the first step of a graph marks tasks or writes rows. */
async function isOlder(reader: AnyQuery, graphId: string, marks: readonly StoredMarks[], since: number) {
  if (marks[0] && marks[0].version <= since) return true;
  const { rows } = await sql`
    select 1 from tasks where graph_id = ${graphId} and version <= ${since} limit 1`.execute(reader);
  return rows.length > 0;
}

async function readRows(reader: AnyQuery, graphId: string, since: number | null): Promise<TaskView[]> {
  const changed = since === null ? sql`true` : sql`version > ${since}`;
  const { rows } = await sql<TaskView>`
    select id, graph_id, idx, state, attempt, retries, not_before, deferral, worker_id, created_at, started_at, ended_at,
       ${changed} as "hasChanged", case when ${changed} then spec end as spec, case when ${changed} then error end as error,
      case when idx = 0 then spec->'payload' ? 'isWorkflowCode' else false end as "isCode"
    from tasks where graph_id = ${graphId} order by idx`.execute(reader);
  return rows;
}

interface GraphParts {
  /** Specifications in the document; empty: each task has a row. */
  specs: readonly TaskSpec[];
  marks: ReadonlyMap<number, MarkedTask>;
  rows: readonly TaskView[];
  since: number | null;
}

/** Merges the tasks of a document with their marks and rows; a row holds a whole task. */
export function viewOf(
  { id: graph_id, created_at }: Pick<ViewedGraph, 'id' | 'created_at'>,
  { specs, marks, rows, since }: GraphParts,
): GraphView {
  const byIdx = new Map(rows.map((row) => [row.idx, row]));
  const length = Math.max(specs.length, (rows.at(-1)?.idx ?? -1) + 1);
  const glance = (idx: number): TaskGlance => {
    const row = byIdx.get(idx);
    if (row) return row;
    const mark = marks.get(idx) ?? UNMARKED;
    const hasChanged = since === null || mark.version > since;
    return { state: mark.state, not_before: null, deferral: null, hasChanged, isCode: false };
  };
  const idOf = (idx: number): string | null =>
    byIdx.get(idx)?.id ?? (idx < specs.length ? taskIdOf(graph_id, idx) : null);
  const task = (idx: number): TaskView => {
    const row = byIdx.get(idx);
    const mark = marks.get(idx) ?? UNMARKED;
    // A subgraph gets its row when something in it fails, long after it began: the mark has its start.
    if (row) return { ...row, started_at: mark.started_at ?? row.started_at };
    const { started_at, ended_at } = mark;
    const spec = specs[idx]!;
    const { attempt, retries, error, worker_id } = UNTOUCHED;
    const status = { attempt, retries, error, worker_id, started_at, ended_at };
    return { id: taskIdOf(graph_id, idx), graph_id, idx, created_at, spec, ...status, ...glance(idx) };
  };
  return { length, glance, task, idOf };
}

const UNMARKED = { state: 'pending' as const, version: 0, started_at: null, ended_at: null };
