import { asksCode } from './code/steps';
import { fail, failWaiting } from './failure';
import { isAbandoned, type TaskNode } from './graph';
import type { Happening } from './happening';
import { emitDeferred } from './messages';
import { type Step, touch } from './step';
import { limitAt, timeoutError } from './time-limit';

/**
 * Operations that wait for something else (an execution that they have started, most of all) without a worker: `pending`
 * with a `notBefore`, as a retry waits, but as the same task: a look is neither a try nor has it events of its own.
 */

type Deferred = Extract<Happening, { kind: 'deferred' }>;

/** Least time between two looks of an operation for something that has happened already, ms. */
const REPEAT_MS = 500;

/** The operation left its worker to wait; that its run came to this shows that it is not what loses workers. */
export function defer(step: Step, node: TaskNode, report: Deferred): void {
  if (noteDeferral(step, node, report)) emitDeferred(step, node, report.message);
  node.losses = 0;
  // In a subgraph that is failing nothing starts any more.
  if (isAbandoned(step.graph.nodes, node)) return failWaiting(step, node);
  node.notBefore = Math.min(step.now + report.checkAfterMs, limitAt(node) ?? Number.POSITIVE_INFINITY);
  step.graph.waiting++;
  step.decision.timers.push({ idx: node.spec.idx, at: node.notBefore });
}

/** Keeps what the operation waits for; true when it is something new. Of an ended graph that is all: its resume goes on. */
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

/** Lets a waiting operation look: at once, or after a moment when it has looked for the same before and waits again. */
export function wake(step: Step, node: TaskNode | undefined): void {
  const deferral = node?.deferral;
  if (!deferral || node?.state !== 'pending' || node.notBefore === null) return;
  const earliest = deferral.since === deferral.saidAt ? step.now : deferral.saidAt + REPEAT_MS;
  touch(step, node);
  node.notBefore = Math.min(node.notBefore, earliest);
  if (node.notBefore <= step.now) step.ready.push(node.spec.idx);
  // Also when it was woken before: whoever took the wake has forgotten the timer.
  else step.decision.timers.push({ idx: node.spec.idx, at: node.notBefore });
}

/** Ends an operation that waits and whose time limit is over; false when it is none, and may look. */
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
