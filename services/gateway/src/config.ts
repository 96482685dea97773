import { isNetwork } from '@baton/http';
import { defaultPorts, envValue, runtimeConfig } from '@baton/service-runtime';
import { z } from 'zod';

const origin = (service: keyof typeof defaultPorts) =>
  z
    .string()
    .regex(/^https?:\/\/[^/]+$/, 'must be http://host:port')
    .default(`http://127.0.0.1:${defaultPorts[service].http}`)
    .describe(`Where the HTTP server of ${service} is`);

const LARGEST = 2 ** 40;

const rate = (usual: string) => envValue.integer(0, 100_000_000).prefault(usual);

export const configSchema = runtimeConfig.extend({
  BATON_PORT: envValue
    .integer(0, 65535)
    .optional()
    .describe('Port of the API; another word for BATON_HTTP_PORT of the gateway'),
  BATON_AGENTS_PORT: envValue
    .integer(1, 65535)
    .optional()
    .describe(
      'A second port for agents alone, where a proxy in front of the API ends TLS; agents also reach the port of the API where nothing ends their TLS',
    ),
  BATON_AGENT_PACKAGES: z
    .string()
    .optional()
    .describe('Folder of the programs of agents, with index.json; absent: dist/agent of this release'),
  BATON_MAX_AGENTS: envValue
    .integer(0, 1_000_000)
    .prefault('2000')
    .describe('Agents that may be connected to one gateway at the same time; more are told to come later'),
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
    .describe(
      'Requests that one gateway takes at the same time; more get 503 with Retry-After. While half of the places are taken, one user has a quarter of them at most and one tenant half; more get 429',
    ),
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
  BATON_USER_RATE_LIMIT: rate('300000').describe(
    'Requests that one user may make a minute through one gateway, and a tenant four times as many; 0: not limited',
  ),
  BATON_USER_CHANGE_LIMIT: rate('30000').describe(
    'Changes (what is neither a read nor a search) that one user may make a minute through one gateway, and a tenant four times as many; 0: not limited',
  ),
  BATON_USER_UPLOAD_LIMIT: rate('1200').describe(
    'Uploads of archives and files that one user may make a minute through one gateway, and a tenant four times as many; 0: not limited',
  ),
  BATON_LOGIN_FREE_FAILURES: envValue
    .integer(0, 1_000_000)
    .prefault('10')
    .describe(
      'Failed logins of one account from one address in 15 minutes before each further one doubles a delay (429 with Retry-After); ten times as many of one account and of one address; 0: no delays',
    ),
  BATON_LOGIN_LONGEST_DELAY: envValue
    .durationMs()
    .prefault('60s')
    .describe('Longest delay after failed logins'),
  BATON_HSTS: envValue
    .durationMs()
    .prefault('365d')
    .describe(
      'Time for which browsers that came over https stay with it (Strict-Transport-Security); 0s: not said. It is sent where the request came over TLS, or through a trusted proxy that says so',
    ),
  BATON_TRUSTED_PROXIES: z
    .string()
    .default('')
    .transform((text) => text.split(/[\s,]+/).filter((part) => part !== ''))
    .refine((parts) => parts.every(isNetwork), 'must be addresses or networks, such as 10.0.0.0/8')
    .describe(
      'Addresses and networks of proxies in front, separated by commas: their X-Forwarded-For says who the client is, X-Forwarded-Proto whether it came over TLS, and X-Forwarded-Host (else Host) the host that it asked for',
    ),
  BATON_BODY_IDLE: envValue
    .durationMs()
    .prefault('10s')
    .describe('Longest silence of a client that sends a JSON body; then it gets 408'),
  BATON_UPLOAD_IDLE: envValue
    .durationMs()
    .prefault('60s')
    .describe('Longest silence of a client that uploads an archive; then it gets 408'),
  BATON_BODY_LEAST_RATE: envValue
    .integer(0, LARGEST)
    .prefault('1024')
    .describe('Bytes a second that a body must come with, on average, after the time of the longest silence'),
  BATON_ANSWER_IDLE: envValue
    .durationMs()
    .prefault('60s')
    .describe('Longest time in which a client takes nothing of its answer; then the connection is closed'),
});

export type Config = Readonly<z.output<typeof configSchema>>;
