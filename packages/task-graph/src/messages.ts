import { beginningOf, type Json } from '@baton/kernel';
import type { GraphEvent, GraphEventType } from './decision';
import { type GraphState, isWorkflowCode, type TaskNode } from './graph';
import type { Step } from './step';
import type { TaskError, TaskSpec } from './task';

/** Texts of a graph's events and errors (reference workflows.md 3.4, 3.5). */

type TaskEventType = Exclude<GraphEventType, 'workflow_node_event' | 'workflow_stage' | 'log'>;

/** Maximum characters of a result, of an error text, and of one task's part in it: a page has a thousand events or executions. */
const MAX_TEXT = 64 * 1024;
const MAX_LINE = 16 * 1024;

const VERBS: { [type in TaskEventType]: string } = {
  sending_task: 'started',
  task_started: 'started',
  task_succeeded: 'succeeded',
  task_failed: 'failed',
  task_rescheduled: 'rescheduled',
};

/** Records a task event, unless the task is silent; a failure is always recorded. */
export function emitTaskEvent(step: Step, node: TaskNode, type: TaskEventType): void {
  const { kind, policy } = node.spec;
  // Further runs of a deferred operation have no events of their own.
  if (node.deferral !== null && (type === 'sending_task' || type === 'task_started')) return;
  if (kind === 'nop' || isWorkflowCode(node.spec) || (!policy.sendTaskEvents && type !== 'task_failed'))
    return;
  const event = eventOn(node.spec, type, taskEventText(step.graph, node, type));
  if (type === 'task_failed' || type === 'task_rescheduled') event.errorCauses = causesOf(node.error);
  if (type === 'task_succeeded') event.result = node.result;
  step.decision.events.push(event);
}

/** Records a free text for the instance of the task. */
export function emitNodeEvent(step: Step, spec: TaskSpec, message: string): void {
  step.decision.events.push(eventOn(spec, 'workflow_node_event', message));
}

/** Records a log line: the operation begins to wait. */
export function emitDeferred(step: Step, { spec }: TaskNode, message: string): void {
  step.decision.events.push(eventOn(spec, 'log', message));
}

/** Records that a failure of the task is ignored, for the instance whose sequence contains the task. */
export function emitIgnored(step: Step, spec: TaskSpec): void {
  const event = eventOn(spec, 'workflow_node_event', `Ignoring task ${spec.name} failure`);
  const relationship = spec.kind === 'operation' ? spec.payload.relationship : null;
  const own = relationship && { nodeInstanceId: relationship.sourceId, nodeId: relationship.sourceNode };
  step.decision.events.push({ ...event, ...own, operation: null, sourceId: null, targetId: null });
}

export function emitWorkflowEvent(step: Step, spec: TaskSpec, message: string, givenType: string): void {
  const event = eventOn(spec, 'workflow_stage', message);
  step.decision.events.push(givenType === event.type ? event : { ...event, givenType });
}

function eventOn(spec: TaskSpec, type: GraphEventType, message: string): GraphEvent {
  const of = spec.payload as { nodeInstanceId?: string | null; nodeId?: string | null };
  const operation = spec.kind === 'operation' ? spec.payload : null;
  return {
    type,
    message,
    idx: spec.idx,
    nodeInstanceId: of.nodeInstanceId ?? null,
    nodeId: of.nodeId ?? null,
    operation: operation?.operation ?? null,
    sourceId: operation?.relationship?.sourceId ?? null,
    targetId: operation?.relationship?.targetId ?? null,
    errorCauses: null,
  };
}

function taskEventText(graph: GraphState, node: TaskNode, type: TaskEventType): string {
  const { spec } = node;
  const subject = spec.kind === 'subgraph' ? 'Subgraph' : 'Task';
  let text =
    type === 'sending_task' ? `Sending task '${spec.name}'` : `${subject} ${VERBS[type]} '${spec.name}'`;
  if (type === 'task_succeeded' && node.result !== null) text += ` - ${resultText(node.result)}`;
  if (type === 'task_failed' || type === 'task_rescheduled') text += ` -> ${node.error?.message ?? ''}`;
  if (graph.dryRun) text += ' (dry run)';
  return text + retrySuffix(node);
}

function retrySuffix(node: TaskNode): string {
  if (node.retries === 0) return '';
  const total = node.spec.policy.totalRetries;
  return total < 0 ? ` [retry ${node.retries}]` : ` [retry ${node.retries}/${total}]`;
}

function resultText(result: Json): string {
  return beginningOf(typeof result === 'string' ? result : JSON.stringify(result), MAX_TEXT);
}

function causesOf(error: TaskError | null): GraphEvent['errorCauses'] {
  if (!error) return null;
  return error.causes ?? [{ type: error.type, message: error.message, traceback: error.traceback ?? null }];
}

/**
 * Returns the error text of a failed graph: one line for one error; for several a count and one line each; then the
 * first traceback. `failures` are innermost tasks, the first failure first.
 */
export function workflowFailedText(graph: GraphState, failures: readonly number[]): string {
  const nodes = failures.map((idx) => graph.nodes[idx]!);
  const lines = nodes.map((node) =>
    beginningOf(`${describe(node.spec)}: ${causeTexts(node.error)}`, MAX_LINE),
  );
  const text =
    lines.length === 1
      ? `Task failed: ${lines[0]}`
      : [`${lines.length} operation errors:`, ...lines].join('\n');
  const first = nodes[0];
  const traceback = first?.error?.causes?.find((c) => c.traceback)?.traceback ?? first?.error?.traceback;
  const told = beginningOf(text, MAX_TEXT);
  if (!traceback) return told;
  return `${told}\nTraceback of ${describe(first!.spec)} (most recent call last):\n${beginningOf(traceback, MAX_TEXT)}`;
}

function describe(spec: TaskSpec): string {
  if (spec.kind !== 'operation') return spec.name;
  return `${spec.name} (${spec.payload.nodeInstanceId}:${spec.payload.operation})`;
}

function causeTexts(error: TaskError | null): string {
  if (!error) return 'unknown error';
  const causes = error.causes?.length ? error.causes : [error];
  return causes.map((c) => `${c.type} \`${c.message}\``).join(', ');
}
