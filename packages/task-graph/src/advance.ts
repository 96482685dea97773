import { type Pieces, whole } from '@baton/kernel';
import {
  addTasks,
  asksCode,
  decide,
  dropTasks,
  endlessCode,
  lostCode,
  mayRunAgain,
  outcomeOfCode,
} from './code/steps';
import type { Decision } from './decision';
import { defer, endOverdue, noteDeferral, wake } from './deferral';
import { fail, failIfQuiet, reschedule } from './failure';
import { type GraphState, isAbandoned, isCodeStep, isInOver, isWorkflowCode, type TaskNode } from './graph';
import type { Happening } from './happening';
import { emitTaskEvent, workflowFailedText } from './messages';
import { drain, drainInPieces, leaveWorker, succeed, takeBack, toldFailure } from './run';
import { beginStep, endStep, type Step, touch } from './step';
import type { TaskError } from './task';
import { timeoutError } from './time-limit';

/** Lost runs of one task after which it finally fails: its operation seems to kill workers. */
export const MAX_LOSSES = 5;

/**
 * One step of a graph: applies `happenings`, in order, at `now` (epoch ms). Changes `graph` and returns the delta to
 * store. When the delta cannot be stored, `undoDecision` takes the step back. Cost: O(tasks changed). Never throws.
 */
export function advance(graph: GraphState, happenings: readonly Happening[], now: number): Decision {
  return whole(advanceInPieces(graph, happenings, now));
}

/** The same in pieces; no other code may read the graph before the end. */
export function* advanceInPieces(
  graph: GraphState,
  happenings: readonly Happening[],
  now: number,
): Pieces<Decision> {
  const step = beginStep(graph, now);
  for (const happening of happenings) {
    take(step, happening);
    yield* drainInPieces(step);
    failBroken(step);
  }
  conclude(step);
  return yield* endStep(step);
}

/** Fails the local tasks that carry a failure text. */
function failBroken(step: Step): void {
  for (let idx = step.broken.pop(); idx !== undefined; idx = step.broken.pop()) {
    const node = step.graph.nodes[idx]!;
    fail(step, node, { type: 'RuntimeError', message: toldFailure(node)!, recoverable: false });
    drain(step);
  }
}

function take(step: Step, happening: Happening): void {
  const { graph } = step;
  switch (happening.kind) {
    case 'start':
      graph.flags.started = true;
      for (const node of graph.nodes)
        if (node.state === 'pending' && node.blockers === 0) step.ready.push(node.spec.idx);
      break;
    case 'resumed':
      sayGoingOn(step);
      break;
    case 'cancel':
      if (graph.flags.ended !== null) break;
      graph.flags.cancel = happening.mode;
      // Also in a graph that ends later, with its code or its running tasks: no operation starts after a cancel.
      takeBack(step);
      if (happening.graceUntil !== undefined)
        leaveGrace(step, { until: happening.graceUntil, isStopping: false });
      break;
    case 'stop':
      if (isInGrace(graph)) leaveGrace(step, { until: happening.until, isStopping: true });
      break;
    case 'due':
      if (happening.idx !== null && happening.idx < graph.nodes.length) takeDue(step, happening.idx);
      break;
    case 'wake':
      wake(step, graph.nodes[happening.idx]);
      break;
    case 'add':
      addTasks(step, happening.tasks);
      break;
    case 'decide':
      decide(step, happening);
      break;
    case 'drop':
      dropTasks(step, happening.idxs);
      break;
    case 'declare-resumable':
      graph.flags.resumable = true;
      break;
    default:
      takeReport(step, happening);
  }
  if (graph.flags.ended !== null || !graph.flags.started) step.ready.length = 0;
}

/** Sends `task_started` again for subgraphs that are not over. */
function sayGoingOn(step: Step): void {
  for (const node of step.graph.nodes) {
    const isOpen = node.spec.kind === 'subgraph' && node.state === 'started' && node.retriedBy < 0;
    if (isOpen && !isInOver(step.graph.nodes, node)) emitTaskEvent(step, node, 'task_started');
  }
}

function takeDue(step: Step, idx: number): void {
  if (!endOverdue(step, step.graph.nodes[idx]!)) step.ready.push(idx);
}

function leaveGrace({ graph, decision }: Step, grace: NonNullable<GraphState['flags']['grace']>): void {
  graph.flags.grace = grace;
  decision.timers.push({ idx: null, at: grace.until });
}

/** Whether a plain cancel lets running tasks end by themselves, and no worker was told to stop yet. */
export function isInGrace({ flags }: Pick<GraphState, 'flags'>): boolean {
  return flags.ended === null && flags.cancel === 'cancel' && flags.grace?.isStopping === false;
}

type Report = Exclude<Extract<Happening, { attempt: number }>, { kind: 'decide' }>;

function takeReport(step: Step, report: Report): void {
  const node = step.graph.nodes[report.idx];
  const reason = refusal(node, report);
  if (!node || reason) {
    step.decision.refused.push({
      idx: report.idx,
      attempt: report.attempt,
      reason: reason ?? 'unknown-task',
    });
    return;
  }
  touch(step, node);
  if (report.kind === 'started') {
    node.state = 'started';
    emitTaskEvent(step, node, 'task_started');
    return;
  }
  const hasBegun = report.kind !== 'lost' && !(report.kind === 'failed' && report.hasNotBegun);
  if (node.state === 'sent' && hasBegun) emitTaskEvent(step, node, 'task_started');
  leaveWorker(step, node);
  const { flags, hasCode } = step.graph;
  // After a cancel an answer has no further effect, whether the graph still waits for it or not.
  if (flags.ended !== null || (flags.cancel !== null && !hasCode)) return answerLate(step, node, report);
  settleReport(step, node, report);
  failQuietSubgraphs(step, node);
}

function refusal(node: TaskNode | undefined, report: Report): Decision['refused'][number]['reason'] | null {
  if (node === undefined || (node.spec.kind !== 'operation' && !isCodeStep(node.spec))) return 'unknown-task';
  if (node.attempt !== report.attempt) return 'stale-attempt';
  if (node.state === 'sent') return null;
  return node.state === 'started' && report.kind !== 'started' ? null : 'not-running';
}

function settleReport(step: Step, node: TaskNode, report: Exclude<Report, { kind: 'started' }>): void {
  if (isWorkflowCode(node.spec) && (report.kind === 'retry' || report.kind === 'deferred'))
    return fail(step, node, endlessCode(report));
  if (report.kind === 'deferred') return defer(step, node, report);
  const told =
    report.kind === 'timed-out' ? { ...report, kind: 'failed' as const, error: timeoutError(node) } : report;
  if (asksCode(node, told)) return;
  if (report.kind === 'succeeded') succeed(step, node, report.result);
  else if (told.kind === 'failed') fail(step, node, told.error);
  else if (report.kind === 'retry') reschedule(step, node, retryError(report));
  else lose(step, node, report.kind === 'lost' && report.isUnwanted === true);
}

/** The graph has ended without waiting for this task: its answer is kept for a resume, and nothing else changes. */
function answerLate(step: Step, node: TaskNode, report: Exclude<Report, { kind: 'started' }>): void {
  if (report.kind === 'lost') {
    if (node.state === 'started') node.losses++;
    node.state = 'pending';
    return;
  }
  if (report.kind === 'deferred') return void noteDeferral(step, node, report);
  node.state = 'response-sent';
  if (report.kind === 'succeeded') node.result = report.result;
  else if (report.kind === 'failed') node.error = report.error;
  else if (report.kind === 'timed-out') node.error = timeoutError(node);
  else node.error = retryError(report);
}

/** The run is lost with its worker. The next attempt starts, unless too many runs were lost or nothing needs the task any more. */
function lose(step: Step, node: TaskNode, isUnwanted: boolean): void {
  if (isWorkflowCode(node.spec) && !mayRunAgain(step)) return fail(step, node, lostCode(step));
  if (node.state === 'started' && !isUnwanted) node.losses++;
  if (node.losses <= MAX_LOSSES && !isAbandoned(step.graph.nodes, node)) {
    node.state = 'pending';
    step.ready.push(node.spec.idx);
    return;
  }
  const message = `The worker was lost ${node.losses} times while it ran this operation`;
  fail(step, node, { type: 'WorkerLost', message, recoverable: false });
}

function failQuietSubgraphs(step: Step, node: TaskNode): void {
  for (let up = node.spec.subgraph; up !== null; up = step.graph.nodes[up]!.spec.subgraph) {
    failIfQuiet(step, step.graph.nodes[up]!);
  }
}

function retryError(report: { message: string; retryAfterMs: number | null }): TaskError {
  return {
    type: 'OperationRetry',
    message: report.message,
    recoverable: true,
    retryAfterMs: report.retryAfterMs,
  };
}

/** Decides whether the graph has ended, and with which outcome. */
function conclude(step: Step): void {
  const { graph, decision } = step;
  const { flags } = graph;
  if (flags.ended !== null || (!flags.started && flags.cancel === null)) return;
  if (graph.hasCode) decision.outcome = outcomeOfCode(graph, step.now);
  else if (flags.cancel !== null) decision.outcome = outcomeOfCancel(step);
  else if (graph.openTop === 0) decision.outcome = { kind: 'succeeded' };
  else if (isOver(step)) decision.outcome = failedOutcome(graph);
  if (decision.outcome === null) return;
  flags.ended = decision.outcome.kind;
  takeBack(step);
}

/**
 * Outcome of a cancel. A plain cancel waits for running tasks: first for the grace, then for the time that workers may
 * take to stop.
 */
function outcomeOfCancel({ graph, now }: Step): Decision['outcome'] {
  const { cancel, grace } = graph.flags;
  const isWaited =
    cancel === 'cancel' &&
    grace !== undefined &&
    graph.active > 0 &&
    !(grace.isStopping && now >= grace.until);
  return isWaited ? null : { kind: 'cancelled' };
}

/** Whether nothing runs or waits, or the time after the first failure is over. */
function isOver({ graph, now }: Step): boolean {
  if (graph.active === 0 && graph.waiting === 0) return true;
  return graph.flags.deadline !== null && now >= graph.flags.deadline;
}

function failedOutcome(graph: GraphState): Decision['outcome'] {
  const failures = [...graph.flags.failures];
  // Without a failure the remaining tasks wait for each other: the relationships of the blueprint form a circle.
  const stuck = 'The remaining tasks wait for each other: the dependencies between them form a cycle';
  const error = failures.length > 0 ? workflowFailedText(graph, failures) : stuck;
  return { kind: 'failed', error, failures };
}
