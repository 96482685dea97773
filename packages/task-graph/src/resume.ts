import { advance } from './advance';
import { addCleanups, type CleanupSource } from './build/resume-cleanup';
import type { Decision } from './decision';
import { freshFlags, type GraphState, graphFromRows, isSettledStatus, isWorkflowCode } from './graph';
import type { Happening } from './happening';
import { rowOf, statusOf } from './step';
import type { GraphSpec, TaskRow } from './task';

export interface ResumeOptions {
  /** Also run again what may still be running at a worker. */
  force: boolean;
  now: number;
  /** Of a resumed `install`: its half-done instances are cleaned up before they go on (reference workflows.md 2.9). */
  cleanup?: CleanupSource;
  /** Flag of a graph with workflow code: it said that it may be run again. */
  resumable?: true;
}

/**
 * A stored graph whose execution failed or was cancelled, ready to go on (reference workflows.md 2.8, 2.9), with the
 * delta to store. What failed for good runs again with its retries back; what succeeded or was ignored stays. Answers
 * that came after the end count now. If the delta cannot be stored, drop the graph: it cannot be undone.
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
  /** Replaced by a retry, or ended by an ignored failure: it is over, and so is everything inside it. */
  const isOver = (row: TaskRow): boolean =>
    retried.has(row.idx) || (row.state !== 'succeeded' && isSettledStatus(row, row));
  const isInOver = (row: TaskRow): boolean => {
    for (let up = row.subgraph; up !== null; up = rows[up]!.subgraph) if (isOver(rows[up]!)) return true;
    return false;
  };
  return rows.map((stored) => {
    if (isOver(stored) || isInOver(stored)) return stored;
    // What waited looks again at once, as a run of its own; its time limit begins anew.
    const row = stored.deferral === null ? stored : { ...stored, deferral: null };
    // Its runs are told apart by their attempt; nobody wants to know how the stopped one ended.
    if (isWorkflowCode(row)) return { ...row, state: 'pending', error: null, result: null };
    if (row.kind === 'subgraph') return resetSubgraph(row);
    // A final failure that came after the end, a killed run for one, is no better than one before it.
    const isLateFailure = row.state === 'response-sent' && row.error?.recoverable === false;
    const isFailed = row.state === 'failed' || row.state === 'rescheduled' || isLateFailure;
    const isLost = row.state === 'sent' || row.state === 'sending' || (force && isAway(row));
    const fresh = { state: 'pending', losses: 0, notBefore: null } as const;
    if (isFailed) return { ...row, ...fresh, retries: 0, error: null, result: null };
    if (isLost) return { ...row, ...fresh, error: null, result: null };
    // Whoever resumes does not wait for the rest of an old interval, and asks for what a lost worker had begun.
    if (row.state === 'pending' && (row.notBefore !== null || row.losses > 0)) return { ...row, ...fresh };
    return row.state === 'response-sent' ? { ...row, state: 'started' } : row;
  });
}

/** It may still run, or it failed after the end. What succeeded after the end is done, also for who uses force. */
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
