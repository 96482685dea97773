import { envValue, runtimeConfig } from '@baton/service-runtime';
import type { z } from 'zod';

const MIB = 1024 * 1024;

/** Settings of the deployments service. */
export const configSchema = runtimeConfig.extend({
  BATON_DOCUMENT_KEEP: envValue
    .durationMs()
    .prefault('1d')
    .describe('Age from which shared parts of plans that no deployment uses are removed'),
  BATON_INSTANCE_FILE_MAX_BYTES: envValue
    .integer(1024, 1024 * MIB)
    .prefault(String(64 * MIB))
    .describe('Largest file of a node instance, in bytes'),
});
export type Config = z.infer<typeof configSchema>;
