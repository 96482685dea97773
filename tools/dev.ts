// npm run dev: starts eight kinds of processes with PostgreSQL, RabbitMQ and Redis from the environment or on this machine, and
// restarts services whose bundle changes. Ctrl-C ends all. `--inspect executions` opens the inspector of that process on
// 127.0.0.1:9229.
import { spawnSync } from 'node:child_process';
import { watch } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { workerVariables } from '../services/worker/src/isolation/own-environment';
import { migrationEnv, serviceDatabaseUrls } from '../test/harness/database-logins';
import { nodeProcess, root, untilAnswers } from '../test/harness/processes';

const NAMES = [
  'identity',
  'secrets',
  'catalog',
  'deployments',
  'executions',
  'cluster-status',
  'gateway',
  'worker',
];
const { values } = parseArgs({
  options: { workers: { type: 'string', default: '1' }, inspect: { type: 'string' } },
});
const INSPECTED = { NODE_OPTIONS: '--inspect=127.0.0.1:9229 --enable-source-maps' };

async function main(): Promise<void> {
  const env: NodeJS.ProcessEnv = {
    DATABASE_URL: 'postgres://postgres@127.0.0.1:5432/baton',
    BATON_INTERNAL_KEY: 'only-for-development-0123456789',
    BATON_WORKER_JOIN_TOKEN: 'only-for-development-join-token',
    BATON_SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
    BATON_BLOBS: join(root, '.baton/dev/blobs'),
    ...process.env,
  };
  await ensureDatabase(env.DATABASE_URL!);
  // As in production, each service has its own login; its password is new at each start.
  const { DATABASE_URL: ownerUrl, ...others } = env;
  const databaseUrls = serviceDatabaseUrls(ownerUrl!);
  const migrated = spawnSync(process.execPath, [join(root, 'dist/apps/standalone/migrate.main.js')], {
    env: { ...env, ...migrationEnv(databaseUrls) },
    stdio: 'inherit',
  });
  if (migrated.status !== 0) process.exit(migrated.status ?? 1);
  const workers = Array.from({ length: Number(values.workers) }, (_, i) => `worker-${i + 1}`);
  const names = [...NAMES.filter((name) => name !== 'worker'), ...workers];
  if (values.inspect !== undefined && !names.includes(values.inspect)) {
    console.error(`--inspect names no process; there are: ${names.join(', ')}`);
    process.exit(64);
  }
  const logDir = join(root, '.baton/dev/logs');
  // As in production, workers get only the variables that they read, and no key of the services.
  const environmentOf = (name: string, service: string): NodeJS.ProcessEnv => {
    const dir = { BATON_HTTP_PORT: '0', BATON_WORKER_DIR: join(root, '.baton/dev', name) };
    const inspected = values.inspect === name ? INSPECTED : {};
    if (service === 'worker') return { ...workerVariables(others), ...dir, ...inspected };
    const url = databaseUrls[service];
    return { ...others, ...inspected, ...(url !== undefined && { DATABASE_URL: url }) };
  };
  const processes = names.map((name) => {
    const service = name.replace(/-\d+$/, '');
    const main = join(root, `dist/services/${service}/main.js`);
    return { service, process: nodeProcess(name, main, environmentOf(name, service), logDir) };
  });
  for (const { process } of processes) process.start();
  for (const { service, process } of processes) {
    watch(
      join(root, 'dist/services', service),
      { persistent: false },
      debounced(async () => {
        await process.stop();
        process.start();
      }),
    );
  }
  let isStopping = false;
  const stop = async () => {
    if (isStopping) return;
    isStopping = true;
    await Promise.all(processes.map(({ process }) => process.stop()));
    process.exit(0);
  };
  process.on('SIGINT', () => void stop());
  process.on('SIGTERM', () => void stop());
  const port = env.BATON_PORT ?? '8080';
  await untilAnswers(`http://127.0.0.1:${port}/readyz`);
  console.log(
    `Baton is ready: http://127.0.0.1:${port}/api/v3.1, logs in ${logDir}; \`npm run build\` restarts what changed`,
  );
}

async function ensureDatabase(url: string): Promise<void> {
  // The tools are not a package of the workspace: they use the driver of the test kit.
  const pg = createRequire(join(root, 'packages/testkit/package.json'))('pg') as typeof import('pg');
  const server = new URL(url);
  const name = server.pathname.slice(1);
  server.pathname = '/postgres';
  const client = new pg.Client({ connectionString: server.href });
  await client.connect();
  const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name]);
  if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(name)}`);
  await client.end();
}

function debounced(run: () => Promise<void>): () => void {
  let timer: NodeJS.Timeout | null = null;
  return () => {
    if (timer) clearTimeout(timer);
    timer = setTimeout(() => void run(), 300);
  };
}

void main();
