import { envValue, runtimeConfig } from '@baton/service-runtime';
import { z } from 'zod';
import { readNetworks } from './domain/agents/networks';

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
  BATON_AGENTS_URL: z
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .default('http://127.0.0.1:8080')
    .describe(
      'Address of the API of this manager, as the hosts of agents reach it; it stands in install scripts',
    ),
  BATON_AGENTS_NETWORKS: z
    .string()
    .default('')
    .transform((text, context) => {
      const read = readNetworks(text);
      if (typeof read !== 'string') return read;
      context.addIssue({ code: 'custom', message: read });
      return z.NEVER;
    })
    .describe(
      'Other addresses for hosts of other networks (`network` of agent_config): `name=address`, separated by commas; a name may come more than once, the best address first',
    ),
  BATON_AGENT_GRACE: envValue
    .durationMs()
    .prefault('15m')
    .describe(
      'How long operations of an agent go on without a connection to the manager; the same as that of executions',
    ),
});
export type Config = z.infer<typeof configSchema>;
