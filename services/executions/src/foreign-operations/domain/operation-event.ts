import { beginningOf } from '@baton/kernel';
import type { NewEvent } from '../../store/rows';

/** The fields of an operation in a client's graph that its events need. */
export interface ToldOperation {
  name: string;
  type: string;
  parameters: Record<string, unknown>;
}

/** Final states (reference/rest-api.md 6.5). */
const ENDS = new Set(['succeeded', 'failed', 'rescheduled']);
/** Types that stand for work: only these have events. */
const WORK = new Set(['RemoteWorkflowTask', 'SubgraphTask']);

export const isEnd = (state: string): boolean => ENDS.has(state);
/** Operations that do nothing are not counted. */
export const isCounted = (type: string): boolean => type !== 'NOPLocalWorkflowTask';

const EVENTS: Record<string, { type: string; text: (kind: string, name: string, tail: string) => string }> = {
  sending: { type: 'sending_task', text: (kind, name) => `Sending ${kind} '${name}'` },
  started: { type: 'task_started', text: (kind, name) => `${capital(kind)} started '${name}'` },
  succeeded: {
    type: 'task_succeeded',
    text: (kind, name, tail) => `${capital(kind)} succeeded '${name}'${tail && ` - ${tail}`}`,
  },
  failed: {
    type: 'task_failed',
    text: (kind, name, tail) => `${capital(kind)} failed '${name}' -> ${tail}`,
  },
  rescheduled: {
    type: 'task_rescheduled',
    text: (kind, name, tail) => `${capital(kind)} rescheduled '${name}' -> ${tail}`,
  },
};
/** The most characters of a result or an error in an event: a page has a thousand events. */
const MAX_TEXT = 64 * 1024;
const capital = (word: string): string => word[0]!.toUpperCase() + word.slice(1);

/**
 * Returns the event of a new state of an operation; null when it has none (reference/rest-api.md 7.2). `sent` and `response-sent`
 * have none; operations with send_task_events false have an event only for their failure.
 */
export function operationEvent(
  operation: ToldOperation,
  state: string,
  outcome: { result?: unknown; exception?: unknown; exception_causes?: unknown },
): NewEvent | null {
  const event = EVENTS[state];
  if (!event || !WORK.has(operation.type)) return null;
  if (operation.parameters.send_task_events === false && state !== 'failed') return null;
  const tail = state === 'succeeded' ? textOf(outcome.result) : textOf(outcome.exception);
  const kind = operation.type === 'SubgraphTask' ? 'subgraph' : 'task';
  const context = contextOf(operation.parameters);
  return {
    isLog: false,
    eventType: event.type,
    level: null,
    logger: null,
    message: `${event.text(kind, operation.name, tail)}${retrySuffix(operation.parameters)}`,
    errorCauses: Array.isArray(outcome.exception_causes)
      ? (outcome.exception_causes as NewEvent['errorCauses'])
      : null,
    operation: textOrNull(context.operation),
    nodeInstanceId: textOrNull(context.node_id),
    nodeName: textOrNull(context.node_name),
    sourceId: textOrNull(context.source_id),
    targetId: textOrNull(context.target_id),
    worker: null,
    reportedAt: null,
  };
}

/** Returns the context that clients put into the arguments of a remote task. */
function contextOf(parameters: Record<string, unknown>): Record<string, unknown> {
  const kwargs = asObject(parameters.task_kwargs);
  const context = asObject(asObject(kwargs.kwargs)['__cloudify_context'] ?? kwargs.cloudify_context);
  const operation = asObject(context.operation);
  return { ...context, operation: operation.name ?? context.operation };
}

function retrySuffix({ current_retries: current, total_retries: total }: Record<string, unknown>): string {
  if (typeof current !== 'number' || current < 1) return '';
  return typeof total === 'number' && total >= 0 ? ` [retry ${current}/${total}]` : ` [retry ${current}]`;
}

const asObject = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const textOf = (value: unknown): string =>
  value === undefined || value === null
    ? ''
    : beginningOf(typeof value === 'string' ? value : JSON.stringify(value), MAX_TEXT);
