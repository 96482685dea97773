/** Tasks of an execution as rows of a timeline or table. Plain data, no DOM. */
import type { ExecutionGraph, Task } from '../api/answers';

export type TaskSort = 'graph' | 'start' | 'longest';

export interface TaskRow {
  id: string;
  name: string;
  /** The instance of the task, or source and target of a relationship. */
  about: string | null;
  stage: string;
  state: string;
  isOperation: boolean;
  /** Epoch ms; null: not started, or not known to the manager. */
  startMs: number | null;
  /** null: running, or not started. */
  endMs: number | null;
  attempt: number | null;
  nextRetryMs: number | null;
  error: string | null;
  instanceId: string | null;
  dependencies: string[];
}

const msOf = (iso: string | null | undefined): number | null => {
  const ms = iso ? Date.parse(iso) : Number.NaN;
  return Number.isNaN(ms) ? null : ms;
};

/** Types of tasks that a worker runs; the engine runs all others itself. */
const OPERATION_TYPES = new Set(['RemoteWorkflowTask']);

/** Cached per task: few of 10,000 tasks change at a time, and several parts of a screen use the rows. */
const rowsOfTasks = new WeakMap<Task, TaskRow>();
const rowsOfGraphs = new WeakMap<ExecutionGraph, TaskRow[]>();

/** Returns the rows of all tasks in the order of the graphs. The same graph object returns the same rows. */
export function taskRows(graph: ExecutionGraph): TaskRow[] {
  const known = rowsOfGraphs.get(graph);
  if (known) return known;
  const rows = graph.graphs.flatMap(({ name, operations }) => operations.map((task) => knownRow(name, task)));
  rowsOfGraphs.set(graph, rows);
  return rows;
}

function knownRow(stage: string, task: Task): TaskRow {
  const known = rowsOfTasks.get(task);
  if (known?.stage === stage) return known;
  const row = rowOf(stage, task);
  rowsOfTasks.set(task, row);
  return row;
}

function rowOf(stage: string, task: Task): TaskRow {
  const instanceId = task.node_instance_id ?? null;
  const state = task.next_retry_at && task.state === 'pending' ? 'rescheduled' : task.state;
  return {
    id: task.id,
    name: shortName(task, instanceId),
    about: task.source_id && task.target_id ? `${task.source_id} → ${task.target_id}` : instanceId,
    stage,
    state,
    isOperation: OPERATION_TYPES.has(task.type),
    startMs: msOf(task.started_at),
    endMs: msOf(task.ended_at),
    attempt: task.attempt ?? null,
    nextRetryMs: msOf(task.next_retry_at),
    error: task.error?.message ?? null,
    instanceId,
    dependencies: task.dependencies,
  };
}

/** `create` instead of `cloudify.interfaces.lifecycle.create`; the name as it is where it is none of those. */
function shortName({ name, operation }: Task, instanceId: string | null): string {
  if (operation) return operation.split('.').at(-1)!;
  return instanceId ? name.replace(`${instanceId}.`, '').replace(`[${instanceId}] `, '') : name;
}

export interface TaskFilter {
  isOperationsOnly: boolean;
  isFailedOnly: boolean;
  sort: TaskSort;
}

export const isFailed = ({ state, error }: Pick<TaskRow, 'state' | 'error'>): boolean =>
  state === 'failed' || (error !== null && state !== 'succeeded');

export function chosenRows(
  rows: readonly TaskRow[],
  { isOperationsOnly, isFailedOnly, sort }: TaskFilter,
  nowMs: number,
): TaskRow[] {
  const chosen = rows.filter(
    (row) => (!isOperationsOnly || row.isOperation) && (!isFailedOnly || isFailed(row)),
  );
  if (sort === 'start')
    chosen.sort(
      (a, b) => (a.startMs ?? Number.POSITIVE_INFINITY) - (b.startMs ?? Number.POSITIVE_INFINITY) || 0,
    );
  if (sort === 'longest') chosen.sort((a, b) => tookMs(b, nowMs) - tookMs(a, nowMs));
  return chosen;
}

/** Returns the duration in ms, up to now for a running task; -1 before its start. */
export function tookMs({ startMs, endMs }: Pick<TaskRow, 'startMs' | 'endMs'>, nowMs: number): number {
  return startMs === null ? -1 : Math.max(0, (endMs ?? nowMs) - startMs);
}

export interface Span {
  fromMs: number;
  toMs: number;
}

/** Returns the time from the first start to the last end, or to now while a task runs; null when no start is known. */
export function spanOf(rows: readonly TaskRow[], nowMs: number): Span | null {
  let fromMs = Number.POSITIVE_INFINITY;
  let toMs = Number.NEGATIVE_INFINITY;
  for (const { startMs, endMs } of rows) {
    if (startMs === null) continue;
    fromMs = Math.min(fromMs, startMs);
    toMs = Math.max(toMs, endMs ?? nowMs);
  }
  return Number.isFinite(fromMs) ? { fromMs, toMs: Math.max(toMs, fromMs + 1) } : null;
}

/** Returns the left edge and the width of a bar in per cent of the span. The width has a visible minimum. */
export function barOf(
  row: Pick<TaskRow, 'startMs' | 'endMs'>,
  span: Span,
  nowMs: number,
): { left: number; width: number } | null {
  if (row.startMs === null) return null;
  const whole = span.toMs - span.fromMs;
  const left = ((row.startMs - span.fromMs) / whole) * 100;
  const width = (tookMs(row, nowMs) / whole) * 100;
  const seen = Math.max(0.4, width);
  return { left: Math.min(left, 100 - seen), width: Math.min(seen, 100) };
}

const STEPS_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500]
  .concat([1, 2, 5, 10, 15, 30].map((s) => s * 1000))
  .concat([1, 2, 5, 10, 15, 30].map((min) => min * 60_000))
  .concat([1, 2, 3, 6, 12, 24, 48, 168].map((h) => h * 3_600_000));

/** Returns the marks of the time axis in ms from its beginning: at most `most`, at round distances. */
export function ticksOf({ fromMs, toMs }: Span, most: number): number[] {
  const whole = toMs - fromMs;
  const step = STEPS_MS.find((one) => whole / one <= most) ?? whole;
  return Array.from({ length: Math.floor(whole / step) + 1 }, (_, i) => i * step);
}

/** Returns the task that failed first, by its end if known: later failures may be consequences. */
export function firstFailure(rows: readonly TaskRow[]): TaskRow | null {
  const failed = rows.filter((row) => row.state === 'failed');
  const operations = failed.filter(({ isOperation }) => isOperation);
  const among = operations.length > 0 ? operations : failed;
  return among.reduce<TaskRow | null>(
    (first, row) =>
      first === null || (row.endMs ?? Number.POSITIVE_INFINITY) < (first.endMs ?? Number.POSITIVE_INFINITY)
        ? row
        : first,
    null,
  );
}
