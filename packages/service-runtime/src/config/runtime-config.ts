/** The configuration that every service reads. A service extends it: `runtimeConfig.extend({ BATON_...: ... })`. */
import { SPEED_PARTS } from '@baton/kernel';
import { z } from 'zod';
import { envValue } from './env-value';
import { defaultPorts } from './ports';

const rpcAddress = (service: keyof typeof defaultPorts) =>
  z
    .string()
    .default(`127.0.0.1:${defaultPorts[service].rpc}`)
    .describe(`host:port of the rpc server of ${service}`);

const file = (doc: string) => z.string().optional().describe(doc);

export const runtimeConfig = z.object({
  BATON_LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('Least level that is logged'),
  BATON_WITHOUT: envValue
    .names(SPEED_PARTS)
    .prefault('')
    .describe(
      `Parts that only make it faster, to be left out, separated by commas: ${SPEED_PARTS.join(', ')}`,
    ),
  BATON_HOST: z
    .string()
    .default('127.0.0.1')
    .describe('Address that HTTP and rpc listen on; 0.0.0.0 in containers'),
  BATON_HTTP_PORT: envValue
    .integer(0, 65535)
    .optional()
    .describe('HTTP port; default per service: gateway 8080, others 8101 to 8107'),
  BATON_RPC_PORT: envValue
    .integer(0, 65535)
    .optional()
    .describe('rpc port; default per service: 8201 to 8207'),
  BATON_OPS_PORT: envValue
    .integer(0, 65535)
    .optional()
    .describe(
      'Port of its own for /healthz, /readyz and /metrics, not for the public; absent: services answer them on their HTTP port, the gateway there only the first two, in short',
    ),
  BATON_INTERNAL_KEY: envValue
    .secret(16)
    .describe(
      'Key that the services share and workers do not need: proofs of leases and tokens of executions; identities, where no files give them; at least 16 characters',
    ),
  BATON_IDENTITY: z
    .enum(['auto', 'files'])
    .default('auto')
    .describe(
      'files: the identity of a service must come from files; auto: else it follows from the internal key',
    ),
  BATON_IDENTITY_KEY_FILE: z
    .string()
    .optional()
    .describe('File with the private identity key of this service (JWK), made by `npm run keys`'),
  BATON_TRUST_FILE: z
    .string()
    .optional()
    .describe('File with the public identity keys of all services (JWKS), made by `npm run keys`'),
  BATON_WORKER_JOIN_TOKEN: envValue
    .secret(16)
    .optional()
    .describe(
      'What workers show when they register, to executions; without it, it follows from the internal key',
    ),
  BATON_WIRE: z
    .enum(['spec', 'cloudify'])
    .default('spec')
    .describe('Spelling of answers where the two differ'),
  BATON_VALIDATE_RESPONSES: envValue
    .flag()
    .prefault('false')
    .describe('Check every JSON answer against its contract; for tests'),
  BATON_INSTANCE_ID: z
    .string()
    .optional()
    .describe('Name of this replica; default host name, process id and a random part'),
  BATON_NAMESPACE: z
    .string()
    .regex(/^[a-z0-9_-]*$/)
    .default('')
    .describe('Prefix of queues and cache keys, so that several installations share a broker'),
  BATON_START_WAIT: envValue
    .durationMs()
    .prefault('60s')
    .describe('How long a starting service waits for its migrated schema'),
  BATON_DRAIN: envValue
    .durationMs()
    .prefault('10s')
    .describe('How long a stopping service waits for running requests'),
  BATON_UNREADY: envValue
    .durationMs()
    .prefault('0s')
    .describe('How long a stopping service still serves after /readyz turned 503'),
  DATABASE_URL: envValue
    .secret()
    .prefault('postgres://postgres@127.0.0.1:5432/baton')
    .describe('PostgreSQL; each service uses its own schema in it'),
  BATON_DATABASE_CONNECTIONS: envValue
    .integer(2, 500)
    .prefault('10')
    .describe('Most database connections of one process'),
  BATON_ROW_SECURITY: z
    .enum(['on', 'off'])
    .default('on')
    .describe(
      'The database itself holds requests to their tenant; off where its user cannot have the role for it',
    ),
  BATON_BROKER: z
    .enum(['rabbitmq', 'postgres'])
    .default('rabbitmq')
    .describe('Which broker carries messages'),
  AMQP_URL: envValue
    .secret()
    .prefault('amqp://guest:guest@127.0.0.1:5672')
    .describe('RabbitMQ, for BATON_BROKER=rabbitmq'),
  BATON_AMQP_TOPOLOGY: z
    .enum(['declare', 'check'])
    .default('declare')
    .describe(
      'Who makes exchanges and queues in RabbitMQ. declare: each process, its user may do anything; check: the job `migrate`, and the user of a service only uses them',
    ),
  REDIS_URL: envValue.secret().optional().describe('Redis for the cache; absent: a cache in the process'),
  BATON_BLOBS: z.string().default('.baton/blobs').describe('Folder of uploaded files, or `s3`'),
  BATON_S3_ENDPOINT: z.string().optional().describe('Endpoint of the object store, for BATON_BLOBS=s3'),
  BATON_S3_BUCKET: z.string().default('baton').describe('Bucket in the object store'),
  BATON_S3_REGION: z.string().default('us-east-1').describe('Region of the object store'),
  BATON_S3_ACCESS_KEY_ID: z.string().optional().describe('Access key of the object store'),
  BATON_S3_SECRET_ACCESS_KEY: envValue.secret().optional().describe('Secret key of the object store'),
  BATON_TLS: z
    .enum(['off', 'on', 'required'])
    .default('off')
    .describe(
      'on: rpc and HTTP between the services are TLS with certificates of both sides; required: the gateway, PostgreSQL, RabbitMQ, Redis and the object store too, and a plain address of one of them ends the start',
    ),
  BATON_TLS_CA_FILE: file(
    'Certificates (PEM) of the authority of the services; needed unless BATON_TLS is off',
  ),
  BATON_TLS_CERT_FILE: file(
    'Certificate (PEM) of this service, for its DNS name such as `executions`; followed again when it is renewed',
  ),
  BATON_TLS_KEY_FILE: file('Key (PEM) of BATON_TLS_CERT_FILE'),
  BATON_SERVERS_CA_FILE: file(
    'Certificates (PEM) that PostgreSQL, RabbitMQ, Redis and the object store are checked with; default BATON_TLS_CA_FILE, else those of the system',
  ),
  BATON_RPC_IDENTITY: rpcAddress('identity'),
  BATON_RPC_CATALOG: rpcAddress('catalog'),
  BATON_RPC_DEPLOYMENTS: rpcAddress('deployments'),
  BATON_RPC_EXECUTIONS: rpcAddress('executions'),
  BATON_RPC_SECRETS: rpcAddress('secrets'),
  BATON_RPC_CLUSTER_STATUS: rpcAddress('cluster-status'),
  BATON_RPC_PARENT: envValue
    .flag()
    .prefault('false')
    .describe(
      'Calls and messages go to the process that started this one; set by the standalone for its workers',
    ),
});

type Whole = z.output<typeof runtimeConfig>;
/** Workers have no internal key. */
export type RuntimeConfig = Readonly<
  Omit<Whole, 'BATON_INTERNAL_KEY'> & { BATON_INTERNAL_KEY?: Whole['BATON_INTERNAL_KEY'] | undefined }
>;

/** Default retries of failed operations: the engine uses them, and cluster-status shows them. */
export const retryVariables = {
  BATON_TASK_RETRIES: z.coerce
    .number()
    .int()
    .min(-1)
    .default(60)
    .describe('Retries of a failed operation; -1 = without end'),
  BATON_TASK_RETRY_INTERVAL: z.coerce
    .number()
    .min(0)
    .default(15)
    .describe('Seconds between the tries of an operation'),
  BATON_SUBGRAPH_RETRIES: z.coerce
    .number()
    .int()
    .min(-1)
    .default(0)
    .describe('Re-runs of a failed node lifecycle'),
};
