import { z } from 'zod';

/**
 * Data between the code of a workflow and the engine, sent through the worker (ADR 0013): the code submits work under
 * keys, the engine reports its progress. Shapes of packages/task-graph/src/code.
 */

const common = {
  key: z.string().min(1).max(200),
  deps: z.array(z.string()).optional(),
  subgraph: z.string().nullish(),
  totalRetries: z.number().int().min(-1).optional(),
  retryIntervalMs: z.number().int().min(0).optional(),
  sendTaskEvents: z.boolean().optional(),
  asksOnFailure: z.boolean().optional(),
  asksOnSuccess: z.boolean().optional(),
};

const item = z.discriminatedUnion('item', [
  z.object({
    ...common,
    item: z.literal('operation'),
    instanceId: z.string(),
    operation: z.string(),
    kwargs: z.record(z.string(), z.json()),
    mayOverride: z.boolean(),
    relationship: z.object({ targetId: z.string(), side: z.enum(['source', 'target']) }).nullish(),
  }),
  z.object({ ...common, item: z.literal('state'), instanceId: z.string(), state: z.string() }),
  z.object({ ...common, item: z.literal('node-event'), instanceId: z.string(), text: z.string() }),
  z.object({ ...common, item: z.literal('event'), text: z.string(), eventType: z.string() }),
  z.object({ ...common, item: z.literal('step'), name: z.string() }),
  z.object({ ...common, item: z.literal('subgraph'), name: z.string() }),
  z.object({
    ...common,
    item: z.literal('lifecycle'),
    direction: z.enum(['install', 'uninstall', 'rollback']),
    instanceIds: z.array(z.string()),
    relatedIds: z.array(z.string()),
    isIgnoringFailure: z.boolean(),
  }),
]);

const error = z.object({
  type: z.string(),
  message: z.string(),
  recoverable: z.boolean(),
  retryAfterMs: z.number().nullish(),
  traceback: z.string().nullish(),
});

export const submittedWork = z.object({
  items: z.array(item).default([]),
  /** Decisions about tasks that ask the code. */
  decisions: z
    .array(
      z.object({
        idx: z.number().int(),
        attempt: z.number().int(),
        decision: z.enum(['go-on', 'retry', 'fail']),
        retryAfterMs: z.number().nullable(),
        ignoreTotalRetries: z.boolean(),
      }),
    )
    .default([]),
  /** Steps that the code has carried out; `error` null = succeeded. */
  steps: z
    .array(
      z.object({
        idx: z.number().int(),
        attempt: z.number().int(),
        result: z.json(),
        error: error.nullable(),
      }),
    )
    .default([]),
  /** Keys of tasks that the code no longer waits for. */
  drop: z.array(z.string()).default([]),
  isResumable: z.boolean().default(false),
});
export type SubmittedWork = z.infer<typeof submittedWork>;

/** The current state of a task of the code. Of several with one key (retries) the one with the highest `idx` counts. */
export const workChange = z.object({
  key: z.string(),
  idx: z.number().int(),
  kind: z.string(),
  name: z.string(),
  /** `<instance>:<operation>` for operations, else empty. */
  about: z.string(),
  /** Key of the subgraph that contains the task. */
  subgraph: z.string().nullable(),
  state: z.string(),
  attempt: z.number().int(),
  retries: z.number().int(),
  result: z.json(),
  error: error.loose().nullable(),
  /** Whether the task waits for the code: for a decision, or for a step to carry out. */
  isAsking: z.boolean(),
});
export type WorkChange = z.infer<typeof workChange>;
