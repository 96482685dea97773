import { z } from 'zod';
import { defineMessage } from '../message';

/**
 * A request changed something, and the change is committed: for the audit log (reference/rest-api.md 5.28). Ids and
 * names only; what was written stays where it is.
 */
export const changeMade = defineMessage(
  'audit.change-made.v1',
  'work',
  z.object({
    /** Kind of resource: blueprints, deployments, users, ... */
    refTable: z.string(),
    /** Name of the resource in the path; empty where the path names none. */
    refId: z.string(),
    /** What the path names, and the tenant. */
    refIdentifier: z.record(z.string(), z.string()),
    operation: z.enum(['create', 'update', 'delete']),
    username: z.string(),
    /** Of a call with an execution's token; else empty. */
    executionId: z.string(),
    requestId: z.string(),
    /** Operation id of the route. */
    route: z.string(),
  }),
);
export type ChangeMade = z.infer<typeof changeMade.schema>;
