import { z } from 'zod';
import { defineMessage } from '../message';

/**
 * A request made a change, and the change is committed: for the audit log (reference/rest-api.md 5.28). Contains only
 * ids and names, not the written data.
 */
export const changeMade = defineMessage(
  'audit.change-made.v1',
  'work',
  z.object({
    /** Kind of resource: blueprints, deployments, users, ... */
    refTable: z.string(),
    /** Name of the resource in the path; empty when the path has none. */
    refId: z.string(),
    /** The path parameters, and the tenant. */
    refIdentifier: z.record(z.string(), z.string()),
    operation: z.enum(['create', 'update', 'delete']),
    username: z.string(),
    /** For a call with an execution's token; otherwise empty. */
    executionId: z.string(),
    requestId: z.string(),
    /** Operation id of the route. */
    route: z.string(),
  }),
);
export type ChangeMade = z.infer<typeof changeMade.schema>;
