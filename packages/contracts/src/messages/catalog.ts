import { z } from 'zod';
import { defineMessage } from '../message';

/** A blueprint was uploaded and parsed. */
export const blueprintRegistered = defineMessage(
  'catalog.blueprint-registered.v1',
  'fanout',
  z.object({ blueprintId: z.string(), digest: z.string() }),
);

/**
 * An upload has ended, successfully or not. Clients of the original follow it as an execution of `upload_blueprint`:
 * executions records one under the id that the blueprint shows.
 */
export const uploadEnded = defineMessage(
  'catalog.upload-ended.v1',
  'work',
  z.object({
    blueprintId: z.string(),
    executionId: z.string(),
    status: z.enum(['terminated', 'failed']),
    error: z.string(),
    createdBy: z.string(),
    /** Begin of the upload. */
    createdAt: z.string().optional(),
    visibility: z.string(),
    parameters: z.record(z.string(), z.unknown()),
    /** Completed steps, as log lines of the execution. */
    log: z.array(z.string()).optional(),
  }),
);

/** A blueprint was deleted, and with it the execution that uploaded it. */
export const blueprintDeleted = defineMessage(
  'catalog.blueprint-deleted.v1',
  'work',
  z.object({ blueprintId: z.string(), executionId: z.string() }),
);
