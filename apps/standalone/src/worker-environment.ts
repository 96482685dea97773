import { configSchema, isSeenByScripts } from '@baton/worker';

/**
 * What a worker has no use for: calls and messages go through its parent, and the channel to it is what it joins by. Whoever
 * reads a worker's environment finds no key and no way into the database, the broker, the object store or the cache.
 */
const NOT_FOR_WORKERS = new Set([
  'BATON_OPS_PORT',
  'DATABASE_URL',
  'BATON_DATABASE_CONNECTIONS',
  'BATON_ROW_SECURITY',
  'BATON_BROKER',
  'AMQP_URL',
  'REDIS_URL',
  'BATON_INTERNAL_KEY',
  'BATON_WORKER_JOIN_TOKEN',
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
  const passed = new Set((env.BATON_WORKER_PASS_ENV ?? '').split(',').map((name) => name.trim()));
  const isFor = (name: string): boolean =>
    own.has(name) || isSeenByScripts(name) || passed.has(name) || ALSO.test(name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => isFor(name)));
}
