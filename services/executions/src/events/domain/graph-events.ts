import type { GraphEvent } from '@baton/task-graph';
import type { ExecutionRow, NewEvent } from '../../store/rows';

const NOTHING = {
  isLog: false,
  eventType: null,
  level: null,
  logger: null,
  errorCauses: null,
  operation: null,
  nodeInstanceId: null,
  nodeName: null,
  sourceId: null,
  targetId: null,
  worker: null,
  reportedAt: null,
};

/** Returns an event of the graph in the form in which it is stored (reference/workflows.md 3.5). */
export function newEventOf(event: GraphEvent): NewEvent {
  const isLog = event.type === 'log';
  return {
    isLog,
    eventType: isLog ? null : (event.givenType ?? event.type),
    level: isLog ? 'info' : null,
    logger: isLog ? 'ctx' : null,
    message: event.message,
    errorCauses:
      event.errorCauses?.map((cause) => ({ ...cause, traceback: cause.traceback ?? null })) ?? null,
    operation: event.operation,
    nodeInstanceId: event.nodeInstanceId,
    nodeName: event.nodeId,
    sourceId: event.sourceId,
    targetId: event.targetId,
    worker: null,
    reportedAt: null,
  };
}

/**
 * Returns the event workflow_started, workflow_succeeded, workflow_failed or workflow_cancelled with its text from reference 3.5.
 */
export function workflowEvent(
  execution: ExecutionRow,
  type: 'workflow_started' | 'workflow_succeeded' | 'workflow_failed' | 'workflow_cancelled',
  error: string | null = null,
): NewEvent {
  const name = `'${execution.workflow_id}' workflow execution`;
  const dry = execution.is_dry_run ? ' (dry run)' : '';
  const text = {
    workflow_started: `${execution.is_resumed ? 'Resuming' : 'Starting'} ${name}${dry}`,
    workflow_succeeded: `${name} succeeded${dry}`,
    workflow_failed: `${name} failed: ${error ?? ''}`,
    workflow_cancelled: `${name} cancelled`,
  }[type];
  return { ...NOTHING, eventType: type, message: text };
}

/** Returns a log line of an execution group about an action that failed for a member. */
export function groupLog(message: string): NewEvent {
  return { ...NOTHING, isLog: true, level: 'warning', logger: 'execution_groups', message };
}

/** Returns a log line of the workflow itself. */
export function workflowLog(execution: ExecutionRow, level: string, message: string): NewEvent {
  return { ...NOTHING, isLog: true, level, logger: `ctx.${execution.id}`, message };
}
