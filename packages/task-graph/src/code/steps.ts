import type { GraphOutcome } from '../decision';
import { failAsDecided, mayRetry } from '../failure';
import { activeEnd, type GraphState, isCodeStep, isCounted, isInOver, type TaskNode } from '../graph';
import type { CodeDecision, Happening } from '../happening';
import { emitTaskEvent } from '../messages';
import { addRetry, succeed } from '../run';
import { appendTask, type Step, touch } from '../step';
import type { TaskError, TaskSpec } from '../task';

/**
 * Graphs that grow: the first task is the code of a workflow, which runs at a worker like an operation and submits the
 * others while it runs. The graph ends when the code ends; until then it waits for it, whatever happens to the others.
 */

/** Append tasks and start what is ready. They may depend on any earlier task, and be members of subgraphs among them. */
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

/** Keeps the answer of a task whose code wants to decide what follows from it; false when nobody is to be asked. */
export function asksCode(node: TaskNode, report: Told): boolean {
  const { onSuccess, onFailure } = node.spec.policy;
  if (report.kind === 'succeeded' && onSuccess?.handler === 'ask-code') node.result = report.result;
  else if (report.kind === 'failed' && onFailure?.handler === 'ask-code') node.error = report.error;
  else return false;
  node.state = 'response-sent';
  return true;
}

/** The code's answer about a task that asked it. */
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

/** It succeeded, but its success handler says that it did not, or wants another run and none is left. */
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

/** Runs after a success count as retries do (reference/workflows.md 2.3). */
function repeat(step: Step, node: TaskNode, decided: CodeDecision): void {
  node.state = 'succeeded';
  step.graph.finished++;
  emitTaskEvent(step, node, 'task_succeeded');
  addRetry(step, node, decided.retryAfterMs ?? node.spec.policy.retryIntervalMs);
}

/** Tasks that have not started never will: those that wait for others, and those that wait for their retry. */
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

/** Whether the code may start again after its worker was lost. */
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

/** Code runs once: whatever it asks for in its end is its failure. */
export function endlessCode({ kind, message }: { kind: 'retry' | 'deferred'; message: string }): TaskError {
  if (kind === 'retry') return { type: 'OperationRetry', message, recoverable: false };
  return {
    type: 'OperationDeferred',
    message: `A workflow cannot be deferred: ${message}`,
    recoverable: false,
  };
}

/** Type of the error by which workflow code says that it gave in to a cancel. */
const CANCELLED = 'ExecutionCancelled';

/**
 * How the graph has ended: as its code did. A plain cancel waits for code that runs, and for what the code has left running, a
 * forced one for nobody.
 */
export function outcomeOfCode(graph: GraphState, now: number): GraphOutcome | null {
  const code = graph.nodes[activeEnd(graph.nodes, 0)]!;
  const { cancel, grace } = graph.flags;
  const isCancelled = cancel !== null;
  const hasTime = cancel === 'cancel' && grace !== undefined && !(grace.isStopping && now >= grace.until);
  if (hasTime && graph.active > 0) return null;
  // Code that was stopped has not failed: it was given its time to hear of the cancel.
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

/** A failed graph of the code's speaks for itself; anything else is shown with the place in the code (reference 3.4). */
function codeErrorText(error: TaskError | null): string {
  if (error === null) return '';
  if (error.type === 'WorkflowFailed' || error.type === 'WorkerLost') return error.message;
  const what = `${error.type}: ${error.message}`;
  const where = error.traceback?.trimEnd() ?? '';
  // The frames of Python end with what was raised; those of JavaScript are only frames.
  if (where === '') return what;
  return where.includes(error.message) ? where : `${what}\n${where}`;
}

/** Whether the code has something to do about the task: a step to carry out, or a question. */
export function awaitsCode(spec: TaskSpec, state: string): boolean {
  return state === 'response-sent' || (isCodeStep(spec) && state === 'started');
}
