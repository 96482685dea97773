import { advance } from './advance';
import { addCleanups, type CleanupSource } from './build/resume-cleanup';
import type { Decision } from './decision';
import { freshFlags, type GraphState, graphFromRows, isSettledStatus, isWorkflowCode } from './graph';
import type { Happening } from './happening';
import { rowOf, statusOf } from './step';
import type { GraphSpec, TaskRow } from './task';

export interface ResumeOptions {
  /** Whether tasks that may still run at a worker are run again too. */
  force: boolean;
  now: number;
  /** For a resumed `install`: half-done instances are cleaned up before they go on (reference workflows.md 2.9). */
  cleanup?: CleanupSource;
  /** Flag of a graph with workflow code: the code declared that it may be run again. */
  resumable?: true;
}

/**
 * Returns a stored graph whose execution failed or was cancelled, ready to go on (reference workflows.md 2.8, 2.9),
 * with the delta to store. Finally failed tasks run again with all their retries; succeeded and ignored ones stay.
 * Answers that came after the end count now. If the delta cannot be stored, drop the graph: it cannot be undone.
 */
export function resumeGraph(
  head: Pick<GraphSpec, 'name' | 'waitAfterFailMs' | 'dryRun'>,
  rows: readonly TaskRow[],
  options: ResumeOptions,
): { graph: GraphState; decision: Decision } {
  const reset = resetRows(rows, options.force);
  const changed = new Set(reset.flatMap((row, i) => (row === rows[i] ? [] : [i])));
  const cleanups = options.cleanup
    ? addCleanups(reset, options.cleanup, (idx) => rows[idx]!.deferral !== null)
    : { added: [], deps: new Map<number, number[]>() };
  for (const [idx, deps] of cleanups.deps) {
    reset[idx] = { ...reset[idx]!, deps, state: 'pending' };
    changed.add(idx);
  }
  const late = rows.filter((row) => row.state === 'response-sent' && reset[row.idx]!.state === 'started');
  const graph = graphFromRows(head, [...reset, ...cleanups.added], {
    ...freshFlags(),
    started: true,
    ...(options.resumable && { resumable: true as const }),
  });
  const said: Happening[] = [{ kind: 'resumed' }, ...late.map(answerOf), { kind: 'start' }];
  const decision = advance(graph, said, options.now);
  for (const change of decision.changes) changed.add(change.idx);
  const isOld = (idx: number) => idx < rows.length;
  decision.changes = [...changed].filter(isOld).map((idx) => {
    const deps = cleanups.deps.get(idx);
    return { idx, ...statusOf(graph.nodes[idx]!), ...(deps && { deps }) };
  });
  decision.added = graph.nodes.slice(rows.length).map(rowOf);
  return { graph, decision };
}

/** The rows after the reset; unchanged ones are the same objects. */
function resetRows(rows: readonly TaskRow[], force: boolean): TaskRow[] {
  const retried = new Set(rows.flatMap((row) => row.retryOf ?? []));
  /** Replaced by a retry, or ended by an ignored failure: the task is over, with everything inside it. */
  const isOver = (row: TaskRow): boolean =>
    retried.has(row.idx) || (row.state !== 'succeeded' && isSettledStatus(row, row));
  const isInOver = (row: TaskRow): boolean => {
    for (let up = row.subgraph; up !== null; up = rows[up]!.subgraph) if (isOver(rows[up]!)) return true;
    return false;
  };
  return rows.map((stored) => {
    if (isOver(stored) || isInOver(stored)) return stored;
    // A deferred operation runs again at once, as a new run; its time limit begins anew.
    const row = stored.deferral === null ? stored : { ...stored, deferral: null };
    // Attempts distinguish the runs of the code; the result of the stopped run is not needed.
    if (isWorkflowCode(row)) return { ...row, state: 'pending', error: null, result: null };
    if (row.kind === 'subgraph') return resetSubgraph(row);
    // A final failure reported after the end, such as a killed run, counts like a failure before the end.
    const isLateFailure = row.state === 'response-sent' && row.error?.recoverable === false;
    const isFailed = row.state === 'failed' || row.state === 'rescheduled' || isLateFailure;
    const isLost = row.state === 'sent' || row.state === 'sending' || (force && isAway(row));
    const fresh = { state: 'pending', losses: 0, notBefore: null } as const;
    if (isFailed) return { ...row, ...fresh, retries: 0, error: null, result: null };
    if (isLost) return { ...row, ...fresh, error: null, result: null };
    // A resume does not wait for the rest of an old interval, and wants the work that a lost worker had begun.
    if (row.state === 'pending' && (row.notBefore !== null || row.losses > 0)) return { ...row, ...fresh };
    return row.state === 'response-sent' ? { ...row, state: 'started' } : row;
  });
}

/** The task may still run, or failed after the end. A task that succeeded after the end is done, also with `force`. */
function isAway(row: TaskRow): boolean {
  return row.state === 'started' || (row.state === 'response-sent' && row.error !== null);
}

function resetSubgraph(row: TaskRow): TaskRow {
  if (row.state !== 'failed' && row.error === null) return row;
  return { ...row, state: 'started', error: null };
}

function answerOf(row: TaskRow): Happening {
  const { idx, attempt, error } = row;
  if (!error) return { kind: 'succeeded', idx, attempt, result: row.result };
  if (error.type !== 'OperationRetry') return { kind: 'failed', idx, attempt, error };
  return { kind: 'retry', idx, attempt, message: error.message, retryAfterMs: error.retryAfterMs ?? null };
}
