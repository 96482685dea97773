import { PIECE, type Pieces } from '@baton/kernel';
import type { Decision } from './decision';
import type { GraphState, TaskNode } from './graph';
import { isCounted, nodeOf } from './graph';
import type { TaskRow, TaskSpec, TaskStatus } from './task';

/**
 * One call of `advance` in progress: its changes so far, the tasks that it still has to start, and the data to undo all
 * of it. Every write to a node must be preceded by `touch`.
 */
export interface Step {
  readonly graph: GraphState;
  readonly now: number;
  readonly decision: Decision;
  /** Tasks whose last blocker has gone; may contain tasks that must not start any more. */
  readonly ready: number[];
  /** Local tasks that have started and carry a failure text, so they are about to fail. */
  readonly broken: number[];
  readonly undo: Undo;
}

interface Undo {
  scalars: Pick<GraphState, 'total' | 'finished' | 'openTop' | 'active' | 'waiting' | 'flags'>;
  nodeCount: number;
  nodes: { node: TaskNode; before: TaskNode; memberCount: number }[];
}

const undos = new WeakMap<Decision, Undo>();

export function beginStep(graph: GraphState, now: number): Step {
  const { total, finished, openTop, active, waiting, flags } = graph;
  const undo: Undo = {
    scalars: { total, finished, openTop, active, waiting, flags },
    nodeCount: graph.nodes.length,
    nodes: [],
  };
  graph.flags = { ...flags, failures: [...flags.failures] };
  graph.version++;
  const decision: Decision = {
    fromVersion: graph.version - 1,
    version: graph.version,
    changes: [],
    added: [],
    dispatch: [],
    timers: [],
    instanceStates: [],
    systemProperties: [],
    events: [],
    counters: { total, finished },
    flags: graph.flags,
    outcome: null,
    refused: [],
  };
  undos.set(decision, undo);
  return { graph, now, decision, ready: [], broken: [], undo };
}

/** Saves `node` once, as it was before this step. */
export function touch(step: Step, node: TaskNode): void {
  if (node.savedAt === step.graph.version) return;
  if (node.spec.idx < step.undo.nodeCount) {
    step.undo.nodes.push({ node, before: { ...node }, memberCount: node.members.length });
  }
  node.savedAt = step.graph.version;
}

/** Appends a new task to the graph; the task is neither linked nor counted as open. */
export function appendTask(step: Step, spec: TaskSpec, retries: number): TaskNode {
  const node = nodeOf(spec, null);
  node.retries = retries;
  step.graph.nodes.push(node);
  if (isCounted(spec)) step.graph.total++;
  touch(step, node);
  return node;
}

/** Returns the delta after all changes of the step. */
export function* endStep(step: Step): Pieces<Decision> {
  const { decision, graph, undo } = step;
  for (const [i, { node, before }] of undo.nodes.entries()) {
    if (i % PIECE === PIECE - 1) yield;
    if (isStatusChanged(node, before)) decision.changes.push({ idx: node.spec.idx, ...statusOf(node) });
  }
  for (let i = undo.nodeCount; i < graph.nodes.length; i++) decision.added.push(rowOf(graph.nodes[i]!));
  decision.counters = { total: graph.total, finished: graph.finished };
  return decision;
}

/** Many nodes are touched only for their counters; those have nothing to store. */
function isStatusChanged(a: TaskNode, b: TaskNode): boolean {
  return (
    a.state !== b.state ||
    a.attempt !== b.attempt ||
    a.losses !== b.losses ||
    a.retries !== b.retries ||
    a.notBefore !== b.notBefore ||
    a.error !== b.error ||
    a.result !== b.result ||
    a.deferral !== b.deferral
  );
}

export function statusOf(node: TaskNode): TaskStatus {
  const { state, attempt, losses, retries, notBefore, error, result, deferral } = node;
  return { state, attempt, losses, retries, notBefore, error, result, deferral };
}

export function rowOf(node: TaskNode): TaskRow {
  return { ...node.spec, ...statusOf(node) } as TaskRow;
}

/**
 * Undoes the graph's latest decision, because its transaction failed.
 * @throws RangeError when another decision was made since: then drop the graph and rebuild it from its rows.
 */
export function undoDecision(graph: GraphState, decision: Decision): void {
  const undo = undos.get(decision);
  if (!undo || graph.version !== decision.version) {
    throw new RangeError(`graph ${graph.name}: only the latest decision can be undone`);
  }
  for (const { node, before, memberCount } of undo.nodes) {
    Object.assign(node, before);
    if (node.members.length > memberCount) node.members.length = memberCount;
  }
  graph.nodes.length = undo.nodeCount;
  Object.assign(graph, undo.scalars);
  graph.version = decision.fromVersion;
  undos.delete(decision);
}
