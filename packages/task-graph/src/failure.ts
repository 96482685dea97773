import { waitUntil } from '@baton/kernel';
import { edit, recordDrift, recordStatus } from './effects';
import { isAbandoned, isCounted, type TaskNode } from './graph';
import type { CodeDecision } from './happening';
import { rerunLifecycle } from './lifecycle-retry';
import { emitIgnored, emitTaskEvent } from './messages';
import { addRetry, inside, settle } from './run';
import { type Step, touch } from './step';
import type { TaskError } from './task';

/** Effects of a failed task (reference workflows.md 2.3, 2.5, 2.6). */

/** The operation requested another run. The limit of retries holds for that too, and no handler is asked. */
export function reschedule(step: Step, node: TaskNode, error: TaskError): void {
  endUnsuccessfully(step, node, 'rescheduled', error);
  if (mayRetry(step, node)) addRetry(step, node, error.retryAfterMs ?? node.spec.policy.retryIntervalMs);
  else escalate(step, node);
}

/** The task failed: the failure is ignored, retried, or final. */
export function fail(step: Step, node: TaskNode, error: TaskError): void {
  endUnsuccessfully(step, node, 'failed', error);
  const isFinal = !error.recoverable || isAnswer(node);
  if (node.spec.policy.onFailure?.handler === 'ignore') ignore(step, node);
  else if (!isFinal && mayRetry(step, node)) {
    addRetry(step, node, error.retryAfterMs ?? node.spec.policy.retryIntervalMs);
  } else giveUp(step, node);
}

/** For a check, a failure is the answer: a drift check runs once, and so does a status check on which other work depends. */
function isAnswer({ spec: { policy } }: TaskNode): boolean {
  const { onFailure } = policy;
  if (onFailure?.handler === 'record-status') return onFailure.ends === 'ignore';
  return onFailure?.handler === 'record-drift';
}

function endUnsuccessfully(
  step: Step,
  node: TaskNode,
  state: 'failed' | 'rescheduled',
  error: TaskError,
): void {
  touch(step, node);
  node.state = state;
  node.error = error;
  step.graph.finished += isCounted(node.spec) ? 1 : 0;
  emitTaskEvent(step, node, state === 'failed' ? 'task_failed' : 'task_rescheduled');
}

/** The task failed, and the code that submitted it decides what follows. */
export function failAsDecided(step: Step, node: TaskNode, decided: CodeDecision): void {
  const error = node.error!;
  const isOver = decided.decision === 'go-on';
  endUnsuccessfully(step, node, 'failed', isOver ? { ...error, ignored: true } : error);
  if (isOver) return settle(step, node);
  const isAllowed = mayRetry(step, node, decided.ignoreTotalRetries);
  if (decided.decision === 'retry' && isAllowed && node.spec.kind !== 'subgraph') {
    addRetry(step, node, decided.retryAfterMs ?? error.retryAfterMs ?? node.spec.policy.retryIntervalMs);
  } else giveUp(step, node);
}

/** Whether a retry is allowed. Inside a failing subgraph it is not: nothing waits for it. */
export function mayRetry(step: Step, node: TaskNode, isWithoutLimit = false): boolean {
  return (isWithoutLimit || hasRetryLeft(node)) && !isAbandoned(step.graph.nodes, node);
}

function ignore(step: Step, node: TaskNode): void {
  const handler = node.spec.policy.onFailure;
  const isSilent = handler?.handler === 'ignore' && handler.silent === true;
  if (!isSilent) emitIgnored(step, node.spec);
  settle(step, node);
}

/** The failure is final: the handler writes its properties, and the failure goes up to the subgraph or is ignored. */
function giveUp(step: Step, node: TaskNode): void {
  const handler = node.spec.policy.onFailure;
  if (handler?.handler === 'record-status') recordStatus(step, node, false);
  if (handler?.handler === 'record-drift') recordDrift(step, node, false, handler.slot);
  if (handler?.handler === 'edit-system-properties') edit(step, handler.nodeInstanceId, handler.edits);
  if (handler?.handler === 'ignore') ignore(step, node);
  else if (handler && 'ends' in handler && handler.ends === 'ignore') settle(step, node);
  else escalate(step, node);
}

/** The task finally failed: its subgraph fails with it; a top-level task fails the graph. */
function escalate(step: Step, node: TaskNode): void {
  const origin = node.error?.origin ?? node.spec.idx;
  if (node.spec.subgraph === null) return failGraph(step, origin);
  const parent = step.graph.nodes[node.spec.subgraph]!;
  if (parent.error === null && parent.state === 'started') {
    touch(step, parent);
    parent.error = { ...node.error!, origin };
    abandonMembers(step, parent);
    if (endsGraph(step, parent)) failGraph(step, origin);
  }
  failIfQuiet(step, parent);
}

/** Members that wait for their retry never start; members whose operation is deferred fail. */
function abandonMembers(step: Step, subgraph: TaskNode): void {
  for (const member of inside(step.graph, subgraph)) {
    if (member.state !== 'pending' || member.notBefore === null) continue;
    touch(step, member);
    member.notBefore = null;
    step.graph.waiting--;
    if (member.deferral !== null) failWaiting(step, member);
  }
}

/** Fails a deferred operation because its subgraph is failing: nothing waits for it. No handler is asked. */
export function failWaiting(step: Step, node: TaskNode): void {
  const message = 'The subgraph around it failed while it waited';
  endUnsuccessfully(step, node, 'failed', {
    type: 'SubgraphFailed',
    message,
    recoverable: false,
    abandoned: true,
  });
}

/** Whether no handler on the way up stops the failure of this subgraph. */
function endsGraph(step: Step, subgraph: TaskNode): boolean {
  for (let at: TaskNode = subgraph; ; at = step.graph.nodes[at.spec.subgraph]!) {
    const handler = at.spec.policy.onFailure;
    if (handler?.handler === 'ignore' || (handler && 'ends' in handler && handler.ends === 'ignore'))
      return false;
    if (at.spec.subgraph === null) return handler?.handler !== 'lifecycle-retry' || !hasRetryLeft(at);
  }
}

function hasRetryLeft(node: TaskNode): boolean {
  return node.spec.policy.totalRetries < 0 || node.retries < node.spec.policy.totalRetries;
}

/**
 * Marks a failing subgraph as failed once its last running operation has ended. (Why wait: a lifecycle re-run must not
 * overlap with operations of the run before it.) To be called for each subgraph around an ended operation.
 */
export function failIfQuiet(step: Step, subgraph: TaskNode): void {
  if (subgraph.state !== 'started' || subgraph.error === null || subgraph.runningInside > 0) return;
  touch(step, subgraph);
  failMembers(step, subgraph, subgraph.error);
  if (subgraph.spec.policy.onFailure?.handler === 'ask-code') {
    subgraph.state = 'response-sent';
    return;
  }
  subgraph.state = 'failed';
  step.graph.finished++;
  emitTaskEvent(step, subgraph, 'task_failed');
  const handler = subgraph.spec.policy.onFailure;
  const isTop = subgraph.spec.subgraph === null;
  if (handler?.handler === 'lifecycle-retry' && isTop && hasRetryLeft(subgraph))
    rerunLifecycle(step, subgraph, handler);
  else giveUp(step, subgraph);
}

/** Subgraphs inside a failed one end with it: their remaining tasks do not start (reference workflows.md 2.3). */
function failMembers(step: Step, subgraph: TaskNode, error: TaskError): void {
  for (const member of inside(step.graph, subgraph)) {
    if (member.spec.kind !== 'subgraph' || member.state !== 'started') continue;
    endUnsuccessfully(step, member, 'failed', { ...error, abandoned: true });
  }
}

/** Records a final failure. The first one starts the time limit for independent tasks. */
function failGraph(step: Step, origin: number): void {
  const { flags, waitAfterFailMs } = step.graph;
  // With workflow code only the failure of the code itself counts; the code judges the tasks that it submitted.
  if (step.graph.hasCode && origin !== 0) return;
  if (flags.failures.includes(origin)) return;
  flags.failures.push(origin);
  if (flags.deadline !== null) return;
  flags.deadline = waitUntil(step.now, waitAfterFailMs);
  step.decision.timers.push({ idx: null, at: flags.deadline });
}
