import { type Json, PIECE, type Pieces, whole } from '@baton/kernel';
import type { GraphFlags } from './decision';
import type { OperationState } from './machines';
import type { OperationPayload } from './operation';
import type { Deferral, GraphSpec, TaskError, TaskRow, TaskSpec, TaskStatus } from './task';

/**
 * A graph in memory: the stored tasks, with counters that make the cost of a step depend only on the changed tasks.
 * Treat it as opaque: only `advance` and `undoDecision` write to it.
 */
export interface GraphState {
  readonly name: string;
  readonly waitAfterFailMs: number;
  readonly dryRun: boolean;
  /** The first task is a workflow's code. The graph ends with the code, and the code judges failures of other tasks. */
  readonly hasCode: boolean;
  version: number;
  nodes: TaskNode[];
  flags: GraphFlags;
  total: number;
  finished: number;
  /** Top-level tasks that are not settled yet. */
  openTop: number;
  /** Operations at workers (sent or started). */
  active: number;
  /** Tasks waiting for their `notBefore`. */
  waiting: number;
}

export interface TaskNode {
  readonly spec: TaskSpec;
  state: OperationState;
  attempt: number;
  losses: number;
  retries: number;
  notBefore: number | null;
  error: TaskError | null;
  result: Json;
  deferral: Deferral | null;
  /** Number of unsettled dependencies, plus one while its subgraph has not started. */
  blockers: number;
  /** One entry per edge; the list is replaced, never changed in place. */
  dependents: readonly number[];
  /** Members of a subgraph; only appended to. Empty for other tasks. */
  members: number[];
  openMembers: number;
  /** Operations at workers anywhere inside this subgraph. */
  runningInside: number;
  /** The task that replaced this one, or -1. */
  retriedBy: number;
  /** Whether dependents need not wait for the task any longer. */
  settled: boolean;
  /** Version of the graph in which the old values were last saved for an undo. */
  savedAt: number;
}

/** The empty list that most tasks share: such lists are most of the memory of a large graph. */
const NONE: readonly number[] = Object.freeze([]);

/** Makes the node of a task, not yet linked to others. */
export function nodeOf(spec: TaskSpec, status: TaskStatus | null): TaskNode {
  return {
    spec,
    state: status?.state ?? 'pending',
    attempt: status?.attempt ?? 0,
    losses: status?.losses ?? 0,
    retries: status?.retries ?? 0,
    notBefore: status?.notBefore ?? null,
    error: status?.error ?? null,
    result: status?.result ?? null,
    deferral: status?.deferral ?? null,
    blockers: 0,
    dependents: NONE,
    members: spec.kind === 'subgraph' ? [] : (NONE as number[]),
    openMembers: 0,
    runningInside: 0,
    retriedBy: -1,
    settled: false,
    savedAt: -1,
  };
}

/** Makes a new graph from its specification; nothing has run yet. */
export function graphFromSpec(spec: GraphSpec): GraphState {
  return whole(graphFromSpecInPieces(spec));
}

export function graphFromSpecInPieces(spec: GraphSpec): Pieces<GraphState> {
  return graphInPieces(spec, spec.tasks, freshFlags());
}

export function freshFlags(): GraphFlags {
  return { started: false, cancel: null, failures: [], deadline: null, ended: null };
}

/**
 * Restores the graph as it was when `rows` (all tasks by idx) and `flags` were last written.
 * @throws RangeError when an idx is missing: a graph with a hole cannot be run.
 */
export function graphFromRows(
  head: GraphHead,
  rows: readonly (TaskRow | TaskSpec)[],
  flags: GraphFlags,
): GraphState {
  return whole(graphInPieces(head, rows, flags));
}

type GraphHead = Pick<GraphSpec, 'name' | 'waitAfterFailMs' | 'dryRun'>;

function* graphInPieces(
  head: GraphHead,
  rows: readonly (TaskRow | TaskSpec)[],
  flags: GraphFlags,
): Pieces<GraphState> {
  const nodes: TaskNode[] = new Array(rows.length);
  for (const [i, row] of rows.entries()) {
    if (i % PIECE === 0) yield;
    nodes[row.idx] = nodeOf(row, 'state' in row ? row : null);
  }
  for (let i = 0; i < rows.length; i++)
    if (!nodes[i]) throw new RangeError(`graph ${head.name}: task ${i} is missing`);
  for (const node of nodes)
    if (node.spec.retryOf !== null) nodes[node.spec.retryOf]!.retriedBy = node.spec.idx;
  for (const node of nodes) node.settled = isSettled(node);
  yield;
  wireSubgraphs(nodes);
  yield* wireDependencies(nodes);
  yield;
  return {
    name: head.name,
    waitAfterFailMs: head.waitAfterFailMs,
    dryRun: head.dryRun,
    hasCode: nodes[0] !== undefined && isWorkflowCode(nodes[0].spec),
    version: 0,
    nodes,
    flags: { ...flags, failures: [...flags.failures] },
    ...countersOf(nodes),
  };
}

function isSettled(node: TaskNode): boolean {
  return node.retriedBy < 0 && isSettledStatus(node.spec, node);
}

/** Whether dependents may go on, unless a retry replaced the task: it succeeded, or failed with a handler that goes on. */
export function isSettledStatus(spec: TaskSpec, status: Pick<TaskStatus, 'state' | 'error'>): boolean {
  if (status.state === 'succeeded') return true;
  if (status.error?.ignored) return true;
  // A task that exceeded its retries by its own requests has failed, and no handler was asked.
  if (status.state !== 'failed' || status.error?.abandoned) return false;
  const handler = spec.policy.onFailure;
  return (
    handler !== null && (handler.handler === 'ignore' || ('ends' in handler && handler.ends === 'ignore'))
  );
}

function wireSubgraphs(nodes: TaskNode[]): void {
  for (const node of nodes) {
    if (node.spec.subgraph === null) continue;
    const parent = nodes[node.spec.subgraph]!;
    parent.members.push(node.spec.idx);
    if (!node.settled && node.retriedBy < 0) parent.openMembers++;
    if (parent.state === 'pending') node.blockers++;
  }
  for (const node of nodes) {
    if (!isAtWorker(node)) continue;
    for (let up = node.spec.subgraph; up !== null; up = nodes[up]!.spec.subgraph) nodes[up]!.runningInside++;
  }
}

function* wireDependencies(nodes: TaskNode[]): Pieces<void> {
  const edges = new Map<TaskNode, number[]>();
  for (const node of nodes) {
    if (node.spec.idx % PIECE === 0) yield;
    if (node.state !== 'pending') continue;
    for (const dep of node.spec.deps) {
      const on = nodes[activeEnd(nodes, dep)]!;
      if (on.settled) continue;
      node.blockers++;
      const known = edges.get(on);
      if (known) known.push(node.spec.idx);
      else edges.set(on, [node.spec.idx]);
    }
  }
  for (const [node, dependents] of edges) node.dependents = dependents;
}

/**
 * Returns the task that stands for `idx` now: the last of its retries, or a subgraph around it that was run again or
 * whose failure was ignored.
 */
export function activeEnd(nodes: readonly TaskNode[], idx: number): number {
  let at = idx;
  while (!nodes[at]!.settled) {
    let moved = nodes[at]!.retriedBy;
    for (let up = nodes[at]!.spec.subgraph; moved < 0 && up !== null; up = nodes[up]!.spec.subgraph) {
      moved = nodes[up]!.settled ? up : nodes[up]!.retriedBy;
    }
    if (moved < 0) break;
    at = moved;
  }
  return at;
}

export function isAtWorker(node: TaskNode): boolean {
  return (
    (node.spec.kind === 'operation' || isCodeStep(node.spec)) &&
    (node.state === 'sent' || node.state === 'started' || node.state === 'sending')
  );
}

/** Whether the task is the workflow's own code. */
export function isWorkflowCode(spec: TaskSpec): boolean {
  return spec.kind === 'operation' && spec.payload.isWorkflowCode === true;
}

/** Returns the address of the agent that alone may run the task; null: a worker of the manager does, or nobody has to. */
export function agentOf(spec: Pick<TaskSpec, 'kind' | 'payload'>): string | null {
  return spec.kind === 'operation' ? ((spec.payload as OperationPayload).agent ?? null) : null;
}

/** Whether the workflow's code carries out this local task. */
export function isCodeStep(spec: TaskSpec): boolean {
  return spec.kind === 'local' && spec.payload.byCode === true;
}

/** Whether the task counts for the progress of its execution. */
export function isCounted(spec: TaskSpec): boolean {
  return spec.kind !== 'nop' && !isWorkflowCode(spec);
}

/**
 * Whether a subgraph around the task is over for good without it: replaced by a re-run, or failed and ignored. Its
 * tasks that never started do not count for the progress (reference workflows.md 2.6: its tasks are removed).
 */
export function isInOver(nodes: readonly TaskNode[], node: TaskNode): boolean {
  for (let up = node.spec.subgraph; up !== null; up = nodes[up]!.spec.subgraph)
    if (isOverUnsuccessfully(nodes[up]!)) return true;
  return false;
}

export function isOverUnsuccessfully(node: TaskNode): boolean {
  return node.retriedBy >= 0 || (node.settled && node.state !== 'succeeded');
}

export function isTerminal(state: OperationState): boolean {
  return state === 'succeeded' || state === 'failed' || state === 'rescheduled';
}

/** Whether the task will never start: a subgraph around it failed or is failing. */
export function isAbandoned(nodes: readonly TaskNode[], node: TaskNode): boolean {
  for (let up = node.spec.subgraph; up !== null; up = nodes[up]!.spec.subgraph) {
    if (nodes[up]!.error !== null) return true;
  }
  return false;
}

/** Progress of the tasks of a stored graph (all by idx), as in `Decision.counters`. */
export function progressOf(rows: readonly TaskRow[]): { total: number; finished: number } {
  const head = { name: '', waitAfterFailMs: 0, dryRun: false };
  const { total, finished } = graphFromRows(head, rows, freshFlags());
  return { total, finished };
}

function countersOf(
  nodes: TaskNode[],
): Pick<GraphState, 'total' | 'finished' | 'openTop' | 'active' | 'waiting'> {
  const counters = { total: 0, finished: 0, openTop: 0, active: 0, waiting: 0 };
  for (const node of nodes) {
    if (isCounted(node.spec)) {
      if (isTerminal(node.state)) counters.finished++;
      if (node.state !== 'pending' || !isInOver(nodes, node)) counters.total++;
    }
    if (node.retriedBy >= 0) continue;
    if (node.spec.subgraph === null && !node.settled) counters.openTop++;
    if (isAtWorker(node)) counters.active++;
    if (node.state === 'pending' && node.notBefore !== null && !isAbandoned(nodes, node)) counters.waiting++;
  }
  return counters;
}
