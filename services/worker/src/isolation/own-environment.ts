/** The variables that a worker process may have: what it reads itself, and what scripts are to see. */
import { configSchema, isSeenByScripts } from '../config';

/** It reaches none of these; whoever reads its environment finds no key and no way into the database, the files or the cache. */
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
/** Of the interpreter and of tracing. */
const ALSO = /^(NODE_|OTEL_|TMPDIR$|HOSTNAME$)/;

/** What of `env` a worker process starts with: an allow-list. `unless`: names that this worker has no use for. */
export function workerVariables(env: NodeJS.ProcessEnv, unless: readonly string[] = []): NodeJS.ProcessEnv {
  const withheld = new Set([...NEVER, ...unless]);
  const own = new Set(Object.keys(configSchema.shape).filter((name) => !withheld.has(name)));
  const passed = new Set((env.BATON_WORKER_PASS_ENV ?? '').split(',').map((name) => name.trim()));
  const isFor = (name: string): boolean =>
    own.has(name) || isSeenByScripts(name) || passed.has(name) || ALSO.test(name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => isFor(name)));
}
