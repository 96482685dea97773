import { envValue, runtimeConfig } from '@baton/service-runtime';
import type { z } from 'zod';

/** Settings of the deployments service. */
export const configSchema = runtimeConfig.extend({
  BATON_DOCUMENT_KEEP: envValue
    .durationMs()
    .prefault('1d')
    .describe('Age from which shared parts of plans that no deployment uses are removed'),
});
export type Config = z.infer<typeof configSchema>;
