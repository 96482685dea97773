import { z } from 'zod';

/** One side of an operation: its place in the model. */
const side = z.object({ nodeInstanceId: z.string(), nodeId: z.string() });

/** The data that a worker gets with a lease: everything to run the operation, except secrets. */
export const operationAssignment = z.object({
  executionId: z.string(),
  tenant: z.string(),
  deploymentId: z.string(),
  deploymentDisplayName: z.string(),
  blueprintId: z.string(),
  workflowId: z.string(),
  workflowParameters: z.record(z.string(), z.unknown()),
  createdBy: z.string(),
  isDryRun: z.boolean(),
  /** True for the code of the workflow itself; `inputs` are its parameters. */
  isWorkflowCode: z.boolean().optional(),
  /** For workflow code: time in which independent tasks of a graph go on after a failure. */
  waitAfterFailMs: z.number().optional(),
  /** For workflow code: retry limits of tasks without own settings (-1: no limit). */
  retryDefaults: z
    .object({ taskRetries: z.number(), taskRetryIntervalMs: z.number(), subgraphRetries: z.number() })
    .optional(),
  /** Full name in the plan: cloudify.interfaces.lifecycle.create. */
  operation: z.string(),
  /** Mapping without the plugin alias, e.g. script_runner.tasks.run. */
  mapping: z.string(),
  plugin: z.object({
    name: z.string(),
    packageName: z.string().nullable(),
    packageVersion: z.string().nullable(),
    source: z.string().nullable(),
    properties: z.unknown(),
  }),
  executor: z.string(),
  /** Address of the agent that runs it (`agentAddress`); null or absent: a worker of the manager does. */
  agent: z.string().nullish(),
  /** Present for an operation of a host without an agent that a worker runs over SSH (install_method: ssh). */
  isOverSsh: z.boolean().optional(),
  self: side.nullable(),
  related: side.extend({ isTarget: z.boolean() }).nullable(),
  hostInstanceId: z.string().nullable(),
  inputs: z.record(z.string(), z.unknown()),
  hasFunctions: z.boolean(),
  /** Retries before this attempt, and the allowed number (-1: no limit). */
  retryNumber: z.number().int(),
  maxRetries: z.number().int(),
  /** Milliseconds, null: no limit. */
  timeoutMs: z.number().int().nullable(),
  isTimeoutRecoverable: z.boolean(),
  /** True when an earlier attempt was lost with its worker. */
  isResumed: z.boolean(),
  /** Token for calls of the operation back to the API; invalid after the end of the execution. */
  executionToken: z.string(),
  /** States that the operation must see although deployments may not have stored them yet. */
  states: z.array(
    z.object({
      nodeInstanceId: z.string(),
      state: z.string(),
      seq: z.number().int(),
      systemProperties: z.unknown(),
    }),
  ),
});
export type OperationAssignment = z.infer<typeof operationAssignment>;

/** A line of an operation's log or an event that it sent. */
export const taskEvent = z.object({
  taskId: z.string(),
  /** log: cloudify_log / platform_log; event: plugin_event. */
  kind: z.enum(['log', 'event']),
  level: z.string(),
  logger: z.string(),
  message: z.string(),
  /** ISO instant on the worker's clock. */
  reportedAt: z.string(),
});
export type TaskEvent = z.infer<typeof taskEvent>;

/** The failure of an operation (reference/workflows.md 3.6). */
export const operationError = z.object({
  exceptionType: z.string(),
  message: z.string(),
  traceback: z.string().nullable(),
  causes: z.array(z.object({ type: z.string(), message: z.string(), traceback: z.string() })),
});
export type OperationError = z.infer<typeof operationError>;
