/** Filters of an execution's log, kept in the address. */
import { choicesOf, flagOf, textOf } from '../search-params';

export const EXECUTION_TABS = ['why', 'gantt', 'graph', 'topology', 'log'] as const;
export const LEVELS = ['info', 'warning', 'error'] as const;

export interface LogSearch {
  message?: string;
  level?: (typeof LEVELS)[number];
  failed?: true;
  node_instance_id?: string;
}

export function readLogSearch(search: Record<string, unknown>): LogSearch {
  return {
    message: textOf(search.message),
    level: choicesOf(textOf(search.level), LEVELS)?.[0],
    failed: flagOf(search.failed),
    node_instance_id: textOf(search.node_instance_id),
  };
}

/** Each level with all higher levels. */
const LEVELS_FROM: Readonly<Record<(typeof LEVELS)[number], string[]>> = {
  info: ['info', 'warning', 'error', 'critical'],
  warning: ['warning', 'error', 'critical'],
  error: ['error', 'critical'],
};
/** Event types that report a failure. */
const FAILURES = ['task_failed', 'workflow_failed', 'task_rescheduled', 'workflow_cancelled'];

/** Returns the query parameters of `/events/stream`. The manager filters, so the window of lines contains only matching lines. */
export function logQuery({
  message,
  level,
  failed,
  node_instance_id,
}: LogSearch): Record<string, string | string[] | undefined> {
  return {
    message,
    level: level && LEVELS_FROM[level],
    event_type: failed ? FAILURES : undefined,
    node_instance_id,
  };
}

/** Returns the default tab: the timeline for running and successful executions, else the reason for waiting or failing. */
export const firstTab = (status: string | null | undefined): (typeof EXECUTION_TABS)[number] =>
  status === 'terminated' || status === 'started' ? 'gantt' : 'why';
