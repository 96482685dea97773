import { asksCode } from './code/steps';
import { fail, failWaiting } from './failure';
import { isAbandoned, type TaskNode } from './graph';
import type { Happening } from './happening';
import { emitDeferred } from './messages';
import { type Step, touch } from './step';
import { limitAt, timeoutError } from './time-limit';

/**
 * Operations that wait without a worker, mostly for an execution that they have started. The task is `pending` with a
 * `notBefore`, as with a retry, but it stays the same task: a run after a wait is not a retry and has no events of its
 * own.
 */

type Deferred = Extract<Happening, { kind: 'deferred' }>;

/** Minimum ms between two runs of an operation that waits for the same event again after it has happened. */
const REPEAT_MS = 500;

/** The operation left its worker to wait. Its losses are reset: a run that ended shows that the operation does not kill workers. */
export function defer(step: Step, node: TaskNode, report: Deferred): void {
  if (noteDeferral(step, node, report)) emitDeferred(step, node, report.message);
  node.losses = 0;
  // In a failing subgraph no task starts any more.
  if (isAbandoned(step.graph.nodes, node)) return failWaiting(step, node);
  node.notBefore = Math.min(step.now + report.checkAfterMs, limitAt(node) ?? Number.POSITIVE_INFINITY);
  step.graph.waiting++;
  step.decision.timers.push({ idx: node.spec.idx, at: node.notBefore });
}

/** Stores the wait of the operation; true when the wait is new. In an ended graph nothing else happens: a resume goes on. */
export function noteDeferral(step: Step, node: TaskNode, report: Deferred): boolean {
  const { message, untilExecution } = report;
  const before = node.deferral;
  const isTheSame =
    before !== null &&
    before.untilExecution === untilExecution &&
    (untilExecution !== null || before.message === message);
  node.state = 'pending';
  node.deferral = {
    untilExecution,
    message,
    begunAt: before?.begunAt ?? step.now,
    since: isTheSame ? before.since : step.now,
    saidAt: step.now,
  };
  return !isTheSame;
}

/** Makes a waiting operation run: at once, or after a moment when its last run already waited for the same. */
export function wake(step: Step, node: TaskNode | undefined): void {
  const deferral = node?.deferral;
  if (!deferral || node?.state !== 'pending' || node.notBefore === null) return;
  const earliest = deferral.since === deferral.saidAt ? step.now : deferral.saidAt + REPEAT_MS;
  touch(step, node);
  node.notBefore = Math.min(node.notBefore, earliest);
  if (node.notBefore <= step.now) step.ready.push(node.spec.idx);
  // Also when it was woken before: the consumer of the wake has dropped the timer.
  else step.decision.timers.push({ idx: node.spec.idx, at: node.notBefore });
}

/** Ends a waiting operation whose time limit is over. False for any other task, which may run. */
export function endOverdue(step: Step, node: TaskNode): boolean {
  const { graph, now } = step;
  const isWaiting = node.state === 'pending' && node.notBefore !== null;
  if (!isWaiting || graph.flags.ended !== null || graph.flags.cancel !== null) return false;
  const limit = limitAt(node);
  if (limit === null || limit > now) return false;
  touch(step, node);
  node.notBefore = null;
  graph.waiting--;
  const error = timeoutError(node);
  const { idx } = node.spec;
  if (!asksCode(node, { kind: 'failed', idx, attempt: node.attempt, error })) fail(step, node, error);
  return true;
}
