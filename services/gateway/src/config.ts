import { defaultPorts, envValue, runtimeConfig } from '@baton/service-runtime';
import { z } from 'zod';

const origin = (service: keyof typeof defaultPorts) =>
  z
    .string()
    .regex(/^https?:\/\/[^/]+$/, 'must be http://host:port')
    .default(`http://127.0.0.1:${defaultPorts[service].http}`)
    .describe(`Where the HTTP server of ${service} is`);

const LARGEST = 2 ** 40;

export const configSchema = runtimeConfig.extend({
  BATON_PORT: envValue
    .integer(0, 65535)
    .optional()
    .describe('Port of the API; another word for BATON_HTTP_PORT of the gateway'),
  BATON_HTTPS_CERT_FILE: z
    .string()
    .optional()
    .describe('Certificate (PEM) that users see; absent: the API is plain HTTP, for a proxy in front of it'),
  BATON_HTTPS_KEY_FILE: z.string().optional().describe('Key (PEM) of BATON_HTTPS_CERT_FILE'),
  BATON_HTTP_IDENTITY: origin('identity'),
  BATON_HTTP_CATALOG: origin('catalog'),
  BATON_HTTP_DEPLOYMENTS: origin('deployments'),
  BATON_HTTP_EXECUTIONS: origin('executions'),
  BATON_HTTP_SECRETS: origin('secrets'),
  BATON_HTTP_CLUSTER_STATUS: origin('cluster-status'),
  BATON_MAX_CONCURRENT_REQUESTS: envValue
    .integer(1, 1_000_000)
    .prefault('1000')
    .describe('Requests that one gateway takes at the same time; more get 503 with Retry-After'),
  BATON_MAX_EVENT_STREAMS: envValue
    .integer(0, 1_000_000)
    .prefault('1000')
    .describe('Event streams open at the same time on one gateway'),
  BATON_MAX_BODY_BYTES: envValue.integer(1024, LARGEST).prefault('10485760').describe('Largest JSON body'),
  BATON_MAX_UPLOAD_BYTES: envValue
    .integer(1024, LARGEST)
    .prefault('4294967296')
    .describe('Largest uploaded archive'),
  BATON_RATE_LIMIT: envValue
    .integer(0, 100_000_000)
    .prefault('0')
    .describe(
      'Requests that one client address may make a minute, over all gateways with one Redis; 0: not limited',
    ),
});

export type Config = Readonly<z.output<typeof configSchema>>;
