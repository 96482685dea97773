import { z } from 'zod';
import { defineMessage } from '../message';

// deploymentId and workflowId let deployments show it as the latest execution.
const requested = z.object({
  executionId: z.string(),
  deploymentId: z.string().optional(),
  workflowId: z.string().optional(),
  isResumed: z.boolean().optional(),
  /** Of the execution's row since when this is so: deployments takes no end that was decided before. Not of a new one. */
  version: z.number().int().optional(),
});
/** An execution waits to be planned by whoever gets this. */
export const executionRequested = defineMessage('executions.execution-requested.v1', 'work', requested);
/** An execution was accepted by a process that plans it at once. */
export const executionAccepted = defineMessage('executions.execution-accepted.v1', 'work', requested);
/** An operation may be claimed. A wake-up: the row in executions is the truth. */
/** `isWorkflow`: the task is a workflow's code, which takes no place for operations. */
const ready = z.object({ executionId: z.string(), taskId: z.string(), isWorkflow: z.boolean().optional() });
export const taskReady = defineMessage('executions.task-ready.v1', 'work', ready);
/**
 * The same for the first operation of an execution of which nothing runs or was announced, in a queue of its own: workers answer
 * each at once, and so it is not behind the wake-ups of a tenant that has more work than its share of places.
 */
export const firstTaskReady = defineMessage('executions.first-task-ready.v1', 'work', ready);
/** A member of a group, what another execution has started, or the deletion of a deployment reached terminated, failed or cancelled. */
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
/** New events of these executions are readable; wakes event streams. */
export const eventsAppended = defineMessage(
  'executions.events-appended.v2',
  'fanout',
  z.object({ executionIds: z.array(z.string()) }),
);
/** Running operations must be stopped by whoever holds them. */
export const tasksCancelled = defineMessage(
  'executions.tasks-cancelled.v1',
  'fanout',
  z.object({
    executionId: z.string(),
    taskIds: z.array(z.string()),
    /** Of each of these the run that is meant: the message may come when a resume has begun the next one. */
    attempts: z.array(z.number().int()).optional(),
  }),
);
