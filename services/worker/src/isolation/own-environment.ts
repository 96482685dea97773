/** The variables that a worker process may have: its own settings, and the variables that scripts see. */
import { configSchema } from '../config';
import { isSeenByScripts } from '../run/passed-variables';

/**
 * A worker process never gets these variables: its environment has no key and no access to the database, the files or the cache.
 */
const NEVER = [
  'BATON_OPS_PORT',
  'DATABASE_URL',
  'BATON_DATABASE_CONNECTIONS',
  'BATON_ROW_SECURITY',
  'REDIS_URL',
  'BATON_INTERNAL_KEY',
  'BATON_IDENTITY',
  'BATON_IDENTITY_KEY_FILE',
  'BATON_TRUST_FILE',
  'BATON_BLOBS',
  'BATON_S3_ENDPOINT',
  'BATON_S3_BUCKET',
  'BATON_S3_REGION',
  'BATON_S3_ACCESS_KEY_ID',
  'BATON_S3_SECRET_ACCESS_KEY',
];
/** Variables of the interpreter and of tracing. */
const ALSO = /^(NODE_|OTEL_|TMPDIR$|HOSTNAME$)/;

/** Returns the part of `env` that a worker process starts with: an allow-list. `unless`: names that this worker does not need. */
export function workerVariables(env: NodeJS.ProcessEnv, unless: readonly string[] = []): NodeJS.ProcessEnv {
  const withheld = new Set([...NEVER, ...unless]);
  const own = new Set(Object.keys(configSchema.shape).filter((name) => !withheld.has(name)));
  const passed = new Set((env.BATON_WORKER_PASS_ENV ?? '').split(',').map((name) => name.trim()));
  const isFor = (name: string): boolean =>
    own.has(name) || isSeenByScripts(name) || passed.has(name) || ALSO.test(name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => isFor(name)));
}
