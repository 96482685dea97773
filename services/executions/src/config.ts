import { envValue, retryVariables, runtimeConfig } from '@baton/service-runtime';
import { z } from 'zod';

/** Settings of the executions service; the names are those of the environment variables. */
export const configSchema = runtimeConfig.extend({
  ...retryVariables,
  BATON_CANCEL_GRACE: envValue
    .durationMs()
    .prefault('30s')
    .describe(
      'How long operations that run may go on after a cancel before they are stopped; a parameter cancel_grace of the workflow (seconds) goes before it',
    ),
  BATON_AGENT_GRACE: envValue
    .durationMs()
    .prefault('15m')
    .describe(
      'How long an agent goes on with its operations, and keeps them, while it cannot reach the manager',
    ),
  BATON_AGENT_WAIT: envValue
    .durationMs()
    .prefault('5m')
    .describe(
      'How long an operation waits for the agent of its host before it fails, which its retries follow',
    ),
  BATON_MANAGER_NAME: z
    .string()
    .min(1)
    .max(255)
    .optional()
    .describe('Name of the manager that events and operations show; default: the host name'),
  BATON_EVENT_RETENTION_DAYS: z.coerce
    .number()
    .int()
    .min(0)
    .max(36_500)
    .default(0)
    .describe('Days that events and log lines are kept at least; whole months go together; 0 = for ever'),
  BATON_SCHEDULE_HISTORY_DAYS: z.coerce
    .number()
    .int()
    .min(1)
    .max(36_500)
    .default(90)
    .describe('Days that the occurrences of schedules are remembered'),
});
export type ExecutionsConfig = z.infer<typeof configSchema>;
