import type { GraphOutcome } from '../decision';
import { failAsDecided, mayRetry } from '../failure';
import { activeEnd, type GraphState, isCodeStep, isCounted, isInOver, type TaskNode } from '../graph';
import type { CodeDecision, Happening } from '../happening';
import { emitTaskEvent } from '../messages';
import { addRetry, succeed } from '../run';
import { appendTask, type Step, touch } from '../step';
import type { TaskError, TaskSpec } from '../task';

/**
 * Graphs that grow. The first task is the code of a workflow: it runs at a worker like an operation, and submits the
 * other tasks while it runs. The graph ends when the code ends, whatever happens to the other tasks.
 */

/** Appends tasks and starts the ready ones. They may depend on any earlier task, and be members of earlier or new subgraphs. */
export function addTasks(step: Step, specs: readonly TaskSpec[]): void {
  const { graph } = step;
  const added = specs.map((spec) => appendTask(step, spec, 0));
  for (const node of added) {
    if (node.spec.subgraph === null) graph.openTop++;
    else join(step, node, graph.nodes[node.spec.subgraph]!);
    for (const dep of node.spec.deps) {
      const on = graph.nodes[activeEnd(graph.nodes, dep)]!;
      if (on.settled) continue;
      touch(step, on);
      on.dependents = [...on.dependents, node.spec.idx];
      node.blockers++;
    }
  }
  for (const node of added) if (node.blockers === 0) step.ready.push(node.spec.idx);
}

function join(step: Step, node: TaskNode, parent: TaskNode): void {
  touch(step, parent);
  parent.members.push(node.spec.idx);
  parent.openMembers++;
  if (parent.state === 'pending') node.blockers++;
  if (isCounted(node.spec) && isInOver(step.graph.nodes, node)) step.graph.total--;
}

type Told = Exclude<
  Extract<Happening, { attempt: number }>,
  { kind: 'decide' | 'deferred' | 'started' | 'timed-out' }
>;

/** Stores the report of a task whose code decides about success or failure. False when the code need not be asked. */
export function asksCode(node: TaskNode, report: Told): boolean {
  const { onSuccess, onFailure } = node.spec.policy;
  if (report.kind === 'succeeded' && onSuccess?.handler === 'ask-code') node.result = report.result;
  else if (report.kind === 'failed' && onFailure?.handler === 'ask-code') node.error = report.error;
  else return false;
  node.state = 'response-sent';
  return true;
}

/** Applies the code's decision about a task that asked for one. */
export function decide(step: Step, happening: Extract<Happening, { kind: 'decide' }>): void {
  const { idx, attempt } = happening;
  const node = step.graph.nodes[idx];
  const isAsked = node?.state === 'response-sent' && node.attempt === attempt;
  if (!isAsked || step.graph.flags.ended !== null) {
    const reason = !node ? 'unknown-task' : node.attempt === attempt ? 'not-running' : 'stale-attempt';
    step.decision.refused.push({ idx, attempt, reason });
    return;
  }
  touch(step, node);
  if (node.error !== null) failAsDecided(step, node, happening);
  else if (happening.decision === 'retry' && mayRetry(step, node, happening.ignoreTotalRetries))
    repeat(step, node, happening);
  else if (happening.decision !== 'go-on') rejectSuccess(step, node, happening);
  else succeed(step, node, node.result);
}

/** The task succeeded, but its success handler declares it failed, or wants another run and no retry is left. */
function rejectSuccess(step: Step, node: TaskNode, decided: CodeDecision): void {
  const said =
    decided.decision === 'retry' ? 'asked for another run, and no retry is left' : 'decided that it failed';
  node.error = {
    type: 'RuntimeError',
    message: `The success handler of ${node.spec.name} ${said}`,
    recoverable: false,
  };
  failAsDecided(step, node, decided);
}

/** A repeated run after a success counts as a retry (reference/workflows.md 2.3). */
function repeat(step: Step, node: TaskNode, decided: CodeDecision): void {
  node.state = 'succeeded';
  step.graph.finished++;
  emitTaskEvent(step, node, 'task_succeeded');
  addRetry(step, node, decided.retryAfterMs ?? node.spec.policy.retryIntervalMs);
}

/** Drops tasks that have not started: tasks that wait for others, and tasks that wait for their retry. */
export function dropTasks(step: Step, idxs: readonly number[]): void {
  for (const idx of idxs) {
    const node = step.graph.nodes[idx];
    if (node?.state !== 'pending' || node.retriedBy >= 0 || isInOver(step.graph.nodes, node)) continue;
    touch(step, node);
    if (node.notBefore !== null) step.graph.waiting--;
    node.notBefore = null;
    node.state = 'failed';
    node.error = { type: 'NotStarted', message: 'Its graph ended before it started', recoverable: false };
    step.graph.finished += isCounted(node.spec) ? 1 : 0;
  }
}

/** Whether the code may start again after the loss of its worker. */
export function mayRunAgain({ graph }: Step): boolean {
  return graph.flags.resumable === true && graph.flags.cancel === null;
}

export function lostCode({ graph }: Step): TaskError {
  if (graph.flags.cancel !== null) return { type: CANCELLED, message: '', recoverable: false };
  const message =
    'The worker that ran the code of this workflow was lost. The workflow is not resumable, so its code is not run ' +
    'again; what its operations did stays as it is';
  return { type: 'WorkerLost', message, recoverable: false };
}

/** Code runs once: a retry or a deferral that it requests at its end is an error. */
export function endlessCode({ kind, message }: { kind: 'retry' | 'deferred'; message: string }): TaskError {
  if (kind === 'retry') return { type: 'OperationRetry', message, recoverable: false };
  return {
    type: 'OperationDeferred',
    message: `A workflow cannot be deferred: ${message}`,
    recoverable: false,
  };
}

/** Type of the error with which workflow code ends because of a cancel. */
const CANCELLED = 'ExecutionCancelled';

/**
 * Outcome of the graph, which is the outcome of its code. A plain cancel waits for running code and for the tasks that
 * the code has left running; a forced cancel waits for nothing.
 */
export function outcomeOfCode(graph: GraphState, now: number): GraphOutcome | null {
  const code = graph.nodes[activeEnd(graph.nodes, 0)]!;
  const { cancel, grace } = graph.flags;
  const isCancelled = cancel !== null;
  const hasTime = cancel === 'cancel' && grace !== undefined && !(grace.isStopping && now >= grace.until);
  if (hasTime && graph.active > 0) return null;
  // Stopped code has not failed: it had its time to react to the cancel.
  if (isCancelled && grace?.isStopping && (code.state === 'failed' || now >= grace.until))
    return { kind: 'cancelled' };
  if (code.state === 'succeeded') return isCancelled ? { kind: 'cancelled' } : { kind: 'succeeded' };
  if (code.state === 'failed') {
    if (code.error?.type === CANCELLED) return { kind: 'cancelled' };
    return { kind: 'failed', error: codeErrorText(code.error), failures: [0] };
  }
  return isCancelled && (graph.flags.cancel !== 'cancel' || code.state !== 'started')
    ? { kind: 'cancelled' }
    : null;
}

/**
 * Text of the code's error. A failed graph of the code has its own text; other errors are shown with the place in the
 * code (reference 3.4).
 */
function codeErrorText(error: TaskError | null): string {
  if (error === null) return '';
  if (error.type === 'WorkflowFailed' || error.type === 'WorkerLost') return error.message;
  const what = `${error.type}: ${error.message}`;
  const where = error.traceback?.trimEnd() ?? '';
  // Python tracebacks end with the raised error; JavaScript ones have only frames.
  if (where === '') return what;
  return where.includes(error.message) ? where : `${what}\n${where}`;
}

/** Whether the task waits for the code: for a step to carry out, or for a decision. */
export function awaitsCode(spec: TaskSpec, state: string): boolean {
  return state === 'response-sent' || (isCodeStep(spec) && state === 'started');
}
