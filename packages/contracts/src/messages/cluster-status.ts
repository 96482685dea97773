import { z } from 'zod';
import { defineMessage } from '../message';

/** A configuration value of that scope was set: services that use the scope read it again. */
export const configChanged = defineMessage(
  'cluster-status.config-changed.v1',
  'fanout',
  z.object({ scope: z.string() }),
);

/** Maintenance mode has begun, was completed or has ended. Nobody believes the message: gateways ask for the state. */
export const maintenanceChanged = defineMessage(
  'cluster-status.maintenance-changed.v1',
  'fanout',
  z.object({ status: z.enum(['deactivated', 'activating', 'activated']) }),
);

/**
 * Whether a tenant has webhooks that want events of executions. Executions keeps it, and reports status changes only
 * for such tenants.
 */
export const webhookInterestChanged = defineMessage(
  'cluster-status.webhook-interest-changed.v1',
  'work',
  z.object({
    isListening: z.boolean(),
    /** Increases with each change in the tenant: an older message is ignored. */
    version: z.number().int(),
  }),
);
