import { z } from 'zod';
import { defineMessage } from '../message';

// With deploymentId and workflowId deployments shows the execution as the latest one.
const requested = z.object({
  executionId: z.string(),
  deploymentId: z.string().optional(),
  workflowId: z.string().optional(),
  isResumed: z.boolean().optional(),
  /**
   * Version of the execution's row from which this holds: deployments ignores an end that was decided before it. Absent
   * for a new execution.
   */
  version: z.number().int().optional(),
});
/** An execution waits to be planned by the consumer of this message. */
export const executionRequested = defineMessage('executions.execution-requested.v1', 'work', requested);
/** An execution was accepted by a process that plans it at once. */
export const executionAccepted = defineMessage('executions.execution-accepted.v1', 'work', requested);
/** An operation may be claimed. Only a wake-up: the row in executions is authoritative. */
/** `isWorkflow`: the task is a workflow's code, which takes no place for operations. */
const ready = z.object({ executionId: z.string(), taskId: z.string(), isWorkflow: z.boolean().optional() });
export const taskReady = defineMessage('executions.task-ready.v1', 'work', ready);
/**
 * The same for the first operation of an execution of which no other operation runs or was announced. It has its own
 * queue, which workers answer at once, so it does not wait behind the wake-ups of a tenant that has more work than its
 * share of places.
 */
export const firstTaskReady = defineMessage('executions.first-task-ready.v1', 'work', ready);
/** An operation of the agent with this address (`agentAddress`) may be claimed. Only a wake-up: agents also ask by themselves. */
export const agentTaskReady = defineMessage(
  'executions.agent-task-ready.v1',
  'fanout',
  z.object({ agent: z.string(), executionId: z.string(), taskId: z.string() }),
);
/**
 * A member of a group, an execution started by another one, or the deletion of a deployment reached terminated, failed
 * or cancelled.
 */
export const executionFinished = defineMessage(
  'executions.execution-finished.v1',
  'work',
  z.object({
    executionId: z.string(),
    deploymentId: z.string(),
    workflowId: z.string(),
    status: z.string(),
    executionGroupId: z.string().optional(),
    /** The execution that waits for this end. */
    parentExecutionId: z.string().optional(),
  }),
);
/** These executions have new events or other changes; wakes event streams and streams of changes. */
export const eventsAppended = defineMessage(
  'executions.events-appended.v2',
  'fanout',
  z.object({
    executionIds: z.array(z.string()),
    /** Those executions whose node instance states deployments has applied since. */
    statesOf: z.array(z.string()).optional(),
  }),
);
/** The workers that hold these operations must stop them. */
export const tasksCancelled = defineMessage(
  'executions.tasks-cancelled.v1',
  'fanout',
  z.object({
    executionId: z.string(),
    taskIds: z.array(z.string()),
    /** The run of each task that is meant: the message may arrive after a resume has begun the next run. */
    attempts: z.array(z.number().int()).optional(),
  }),
);
/** An execution has started or ended, in a tenant that has webhooks for such events. */
export const executionStatusChanged = defineMessage(
  'executions.execution-status-changed.v1',
  'work',
  z.object({
    executionId: z.string(),
    deploymentId: z.string(),
    blueprintId: z.string(),
    workflowId: z.string(),
    status: z.enum(['started', 'terminated', 'failed', 'cancelled']),
    createdBy: z.string(),
    /** ISO instant of the change. */
    changedAt: z.string(),
  }),
);
