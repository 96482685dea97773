import { configSchema, isSeenByScripts } from '@baton/worker';

/**
 * What a worker has no use for. Whoever reads a worker's environment finds no way into the database, the object store or
 * the cache; RabbitMQ only where messages go by it.
 */
const NOT_FOR_WORKERS = new Set([
  'DATABASE_URL',
  'BATON_DATABASE_CONNECTIONS',
  'BATON_ROW_SECURITY',
  'REDIS_URL',
  'BATON_BLOBS',
  'BATON_S3_ENDPOINT',
  'BATON_S3_BUCKET',
  'BATON_S3_REGION',
  'BATON_S3_ACCESS_KEY_ID',
  'BATON_S3_SECRET_ACCESS_KEY',
]);
/** Of the interpreter and of tracing. */
const ALSO = /^(NODE_|OTEL_|TMPDIR$|HOSTNAME$)/;

/** The variables that a worker process starts with: those that it reads itself, and those that scripts are to see. */
export function workerEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = new Set(Object.keys(configSchema.shape).filter((name) => !NOT_FOR_WORKERS.has(name)));
  if (env.BATON_BROKER !== 'rabbitmq') own.delete('AMQP_URL');
  const passed = new Set((env.BATON_WORKER_PASS_ENV ?? '').split(',').map((name) => name.trim()));
  const isFor = (name: string): boolean =>
    own.has(name) || isSeenByScripts(name) || passed.has(name) || ALSO.test(name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => isFor(name)));
}
