import { type Json, PIECE, type Pieces, waitUntil, whole } from '@baton/kernel';
import { edit, recordDrift, recordStatus, runLocal } from './effects';
import {
  type GraphState,
  isAbandoned,
  isCodeStep,
  isCounted,
  isOverUnsuccessfully,
  isWorkflowCode,
  type TaskNode,
} from './graph';
import { emitTaskEvent } from './messages';
import { appendTask, type Step, touch } from './step';
import type { TaskSpec } from './task';

/** Start of tasks, and the effects of their success. For failures see failure.ts. */

/** Starts all ready tasks, and the tasks that become ready through them, until no more task is ready. */
export function drain(step: Step): void {
  whole(drainInPieces(step));
}

export function* drainInPieces(step: Step): Pieces<void> {
  const { flags } = step.graph;
  for (let at = 0; at < step.ready.length; at++) {
    if (at % PIECE === PIECE - 1) yield;
    if (
      (flags.cancel !== null && !step.graph.hasCode) ||
      (flags.deadline !== null && step.now >= flags.deadline)
    )
      break;
    startTask(step, step.graph.nodes[step.ready[at]!]!);
  }
  step.ready.length = 0;
}

function startTask(step: Step, node: TaskNode): void {
  if (node.state !== 'pending' || node.blockers > 0 || isAbandoned(step.graph.nodes, node)) return;
  if (node.notBefore !== null && node.notBefore > step.now) return;
  const isWork = node.spec.kind === 'operation' || isCodeStep(node.spec);
  // Workflow code that is being cancelled may still report, but no new work is started for it.
  if (isWork && step.graph.flags.cancel !== null) return;
  touch(step, node);
  if (node.notBefore !== null) step.graph.waiting--;
  node.notBefore = null;
  if (node.spec.kind === 'subgraph') return startSubgraph(step, node);
  if (isWork && (!step.graph.dryRun || isWorkflowCode(node.spec))) return dispatch(step, node);
  runLocal(step, node);
  if (node.spec.kind === 'local') emitTaskEvent(step, node, 'task_started');
  if (toldFailure(node) !== null) {
    node.state = 'started';
    step.broken.push(node.spec.idx);
    return;
  }
  succeed(step, node, null);
}

/** The failure text of a local task; null when it has none. */
export function toldFailure({ spec }: TaskNode): string | null {
  return spec.kind === 'local' && typeof spec.payload.failure === 'string' ? spec.payload.failure : null;
}

function startSubgraph(step: Step, node: TaskNode): void {
  node.state = 'started';
  emitTaskEvent(step, node, 'task_started');
  if (node.openMembers === 0) return succeed(step, node, null);
  for (const idx of node.members) {
    const member = step.graph.nodes[idx]!;
    if (member.state === 'pending') unblock(step, member);
  }
}

/** Hands an operation to the workers, or a step to the workflow's code, as its next attempt. */
function dispatch(step: Step, node: TaskNode): void {
  touch(step, node);
  node.state = 'sent';
  node.attempt++;
  step.graph.active++;
  countRunning(step, node, 1);
  if (node.spec.kind === 'operation') {
    step.decision.dispatch.push(node.spec.idx);
    emitTaskEvent(step, node, 'sending_task');
    return;
  }
  // The code itself looks for its started steps.
  node.state = 'started';
  emitTaskEvent(step, node, 'task_started');
}

/** Takes back the operations that no worker has claimed yet. */
export function takeBack(step: Step): void {
  if (step.graph.active === 0) return;
  for (const node of step.graph.nodes) {
    if (node.state !== 'sent') continue;
    touch(step, node);
    node.state = 'pending';
    leaveWorker(step, node);
  }
  const { decision, graph } = step;
  decision.dispatch = decision.dispatch.filter((idx) => graph.nodes[idx]!.state === 'sent');
}

/** To be called when an operation has left its worker. */
export function leaveWorker(step: Step, node: TaskNode): void {
  step.graph.active--;
  countRunning(step, node, -1);
}

function countRunning(step: Step, node: TaskNode, by: number): void {
  for (let up = node.spec.subgraph; up !== null; up = step.graph.nodes[up]!.spec.subgraph) {
    const subgraph = step.graph.nodes[up]!;
    touch(step, subgraph);
    subgraph.runningInside += by;
  }
}

/** Records the success of a task. Its dependents go on, unless its handler wants the task repeated. */
export function succeed(step: Step, node: TaskNode, result: Json): void {
  touch(step, node);
  node.state = 'succeeded';
  node.result = result;
  step.graph.finished += isCounted(node.spec) ? 1 : 0;
  emitTaskEvent(step, node, 'task_succeeded');
  // In a dry run nothing ran, so there is no result to store or to evaluate.
  const handler = step.graph.dryRun ? null : node.spec.policy.onSuccess;
  if (handler?.handler === 'repeat-until-truthy' && isRepeated(step, node)) {
    addRetry(step, node, node.spec.policy.retryIntervalMs);
    return;
  }
  if (handler?.handler === 'record-status') recordStatus(step, node, true);
  if (handler?.handler === 'record-drift') recordDrift(step, node, true, handler.slot);
  if (handler?.handler === 'edit-system-properties') edit(step, handler.nodeInstanceId, handler.edits);
  settle(step, node);
}

function isRepeated(step: Step, node: TaskNode): boolean {
  return !isTruthy(node.result) && !isAbandoned(step.graph.nodes, node);
}

/** Truth as in plugins written for the original: empty texts, lists and objects are false too. */
function isTruthy(result: Json): boolean {
  if (result === null || typeof result !== 'object') return Boolean(result);
  return Array.isArray(result) ? result.length > 0 : Object.keys(result).length > 0;
}

/** Marks the task as settled: nothing waits for it any longer. The last settled member ends its subgraph. */
export function settle(step: Step, node: TaskNode): void {
  const { graph } = step;
  touch(step, node);
  node.settled = true;
  for (const idx of node.dependents) unblock(step, graph.nodes[idx]!);
  if (node.state === 'failed') {
    leaveOut(step, node);
    for (const idx of takeOutsideDependents(step, node)) unblock(step, graph.nodes[idx]!);
  }
  if (node.spec.subgraph === null) {
    graph.openTop--;
    return;
  }
  const parent = graph.nodes[node.spec.subgraph]!;
  touch(step, parent);
  parent.openMembers--;
  if (parent.openMembers === 0 && parent.error === null) succeed(step, parent, null);
}

function unblock(step: Step, node: TaskNode): void {
  touch(step, node);
  node.blockers--;
  if (node.blockers === 0) step.ready.push(node.spec.idx);
}

/** Runs the task again after `delayMs`, as a new task that takes over its dependents and its place in the subgraph. */
export function addRetry(step: Step, node: TaskNode, delayMs: number): void {
  const { graph } = step;
  const idx = graph.nodes.length;
  const retry = appendTask(
    step,
    { ...node.spec, idx, deps: [], retryOf: node.spec.idx } as TaskSpec,
    node.retries + 1,
  );
  replace(step, node, retry);
  if (node.spec.subgraph !== null) {
    const parent = graph.nodes[node.spec.subgraph]!;
    touch(step, parent);
    parent.members.push(idx);
  }
  if (delayMs <= 0) {
    step.ready.push(idx);
    return;
  }
  retry.notBefore = waitUntil(step.now, delayMs);
  graph.waiting++;
  step.decision.timers.push({ idx, at: retry.notBefore });
}

/** For a subgraph that is about to end without success: members that never started no longer count for the progress. */
function leaveOut(step: Step, subgraph: TaskNode): void {
  for (const idx of subgraph.members) {
    const member = step.graph.nodes[idx]!;
    if (member.state === 'pending' && isCounted(member.spec)) step.graph.total--;
    if (!isOverUnsuccessfully(member)) leaveOut(step, member);
  }
}

/** Returns, and removes from the members, the tasks outside that wait for a member which will not settle any more. */
export function takeOutsideDependents(step: Step, subgraph: TaskNode): number[] {
  const members = [...inside(step.graph, subgraph)];
  const own = new Set(members.map((node) => node.spec.idx));
  const taken: number[] = [];
  for (const member of members) {
    const outside = member.settled ? [] : member.dependents.filter((idx) => !own.has(idx));
    if (outside.length === 0) continue;
    touch(step, member);
    member.dependents = member.dependents.filter((idx) => own.has(idx));
    taken.push(...outside);
  }
  return taken;
}

/** Replaces `node` by `by`, which takes over its dependents. */
export function replace(step: Step, node: TaskNode, by: TaskNode): void {
  touch(step, node);
  leaveOut(step, node);
  node.retriedBy = by.spec.idx;
  by.dependents = [...by.dependents, ...node.dependents];
  node.dependents = [];
}

/** Yields every task inside a subgraph, at any depth. */
export function* inside(graph: GraphState, subgraph: TaskNode): Generator<TaskNode> {
  for (const idx of subgraph.members) {
    const member = graph.nodes[idx]!;
    yield member;
    if (member.spec.kind === 'subgraph') yield* inside(graph, member);
  }
}
