import { createPublicKey, type KeyObject } from 'node:crypto';
import { envValue, retryVariables, runtimeConfig } from '@baton/service-runtime';
import { z } from 'zod';
import { isReach } from './webhooks/adapters/reach';

/** Settings of the cluster-status service. */
export const configSchema = runtimeConfig.extend({
  BATON_PUBLIC_IP: z
    .string()
    .optional()
    .describe('Address shown as public_ip of the managers; default: the private one'),
  BATON_COMMIT: z.string().optional().describe('Commit that the running build was made from'),
  BATON_BUILD_DATE: z.string().optional().describe('Date of the running build, ISO 8601'),
  BATON_EDITION: z
    .enum(['premium', 'community'])
    .default('premium')
    .describe('Edition that clients are told; community adds the registration of contacts'),
  BATON_LICENSE_KEY: z
    .string()
    .transform(publicKeyOf)
    .optional()
    .describe(
      'RSA public key, PEM or its base64, that licenses must be signed for; absent: any signature is taken',
    ),
  BATON_SNAPSHOT_MAX_BYTES: envValue
    .integer(1024 * 1024, Number.MAX_SAFE_INTEGER)
    .prefault('1099511627776')
    .describe('Largest archive of a snapshot, made here or uploaded'),
  BATON_DOWNLOAD_TIME: envValue
    .durationMs()
    .prefault('120s')
    .describe('Longest time that fetching an archive from a URL may take'),
  BATON_ALLOW_PRIVATE_URLS: envValue
    .flag()
    .prefault('false')
    .describe('Let archives and imports be fetched from private, loopback and link-local addresses'),
  BATON_WEBHOOKS_ALLOW: z
    .string()
    .default('')
    .transform((text) => text.split(',').flatMap((part) => part.trim() || []))
    .refine(
      (entries) => entries.every(isReach),
      'must be addresses, CIDR networks or names of hosts, separated by commas',
    )
    .describe(
      'Networks (CIDR) and names of hosts inside the installation that webhooks may lead to, separated by commas; public addresses may always',
    ),
  // Read here only so that GET /config can show the shipped values; the executions service is the one that applies them.
  ...retryVariables,
});
export type ClusterStatusConfig = z.infer<typeof configSchema>;

/**
 * Parses an RSA public key in PEM. Line ends rarely survive in environment variables: the PEM may come with `\n` as two
 * characters, or wholly as base64.
 */
function publicKeyOf(text: string, context: z.RefinementCtx): KeyObject {
  const pem = text.includes('-----BEGIN')
    ? text.replaceAll('\\n', '\n')
    : Buffer.from(text, 'base64').toString('utf8');
  try {
    const key = createPublicKey(pem);
    if (key.asymmetricKeyType === 'rsa') return key;
  } catch {
    // Reported below, with every other problem of the configuration.
  }
  context.addIssue('must be an RSA public key in PEM');
  return z.NEVER;
}
