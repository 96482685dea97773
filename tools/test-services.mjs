// Finds PostgreSQL, RabbitMQ and Redis (environment, then standard ports), or starts private ones that end with this process.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const requireFromTestkit = createRequire(join(root, 'packages', 'testkit', 'package.json'));
const WAIT_MS = 60_000;

/** Returns a free TCP port of the loopback interface. */
function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

function redisAnswers(url) {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port || 6379), timeout: 2000 });
    const done = (answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => socket.write('PING\r\n'));
    socket.once('data', (data) => done(data.toString().startsWith('+PONG')));
    socket.once('error', () => done(false));
    socket.once('timeout', () => done(false));
  });
}

async function postgresAnswers(url) {
  const { Client } = requireFromTestkit('pg');
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 3000 });
  try {
    await client.connect();
    // The tests must be able to create and drop databases.
    const { rows } = await client.query(
      'select rolcreatedb or rolsuper as ok from pg_roles where rolname = current_user',
    );
    return rows[0]?.ok === true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function rabbitAnswers(url) {
  const amqp = requireFromTestkit('amqplib');
  try {
    const connection = await amqp.connect(url, { timeout: 3000 });
    await connection.close();
    return true;
  } catch {
    return false;
  }
}

async function waitFor(check, what) {
  const until = Date.now() + WAIT_MS;
  while (Date.now() < until) {
    if (await check()) return;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  throw new Error(`${what} did not answer within ${WAIT_MS / 1000} s`);
}

let isAptUpdated = false;
function aptInstall(names) {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    throw new Error(
      `${names.join(', ')}: not found, and only root on Debian can install it here; set the *_URL variable`,
    );
  }
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  if (!isAptUpdated) spawnSync('apt-get', ['update', '-qq'], { stdio: 'inherit', env });
  isAptUpdated = true;
  const run = spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...names], {
    stdio: 'inherit',
    env,
  });
  if (run.status !== 0) throw new Error(`apt-get install ${names.join(' ')} failed`);
}

/** Installs programs that suites call, with apt-get, if they are missing. */
export function ensurePrograms(programs) {
  const missing = Object.entries(programs)
    .filter(([program]) => spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0)
    .map(([, aptName]) => aptName);
  if (missing.length > 0) aptInstall(missing);
}

/** Installs the part of Python that makes environments (venv), which Debian keeps apart, if it is missing. */
export function ensurePythonVenv() {
  if (spawnSync('python3', ['-c', 'import ensurepip, venv']).status !== 0) aptInstall(['python3-venv']);
}

/** Starts the embedded PostgreSQL of the standalone as a child process: it needs nothing from outside of the npm registry. */
async function startPostgres(home, stops) {
  const script = join(root, 'apps', 'standalone', 'src', 'embedded-postgres.main.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', script, join(home, 'postgres')], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  stops.push(
    () =>
      new Promise((resolve) => {
        child.once('exit', resolve);
        child.kill('SIGTERM');
      }),
  );
  return await new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the embedded PostgreSQL ended with ${code}`)));
    child.stdout.once('data', (line) =>
      resolve(
        line
          .toString()
          .trim()
          .replace(/\/baton$/, '/postgres'),
      ),
    );
  });
}

async function startRabbit(home, stops) {
  const script = '/usr/lib/rabbitmq/bin/rabbitmq-server';
  if (!existsSync(script)) aptInstall(['rabbitmq-server']);
  const port = await freePort();
  const base = join(home, 'rabbitmq');
  mkdirSync(base, { recursive: true });
  writeFileSync(join(base, 'rabbitmq.conf'), `listeners.tcp.1 = 127.0.0.1:${port}\n`);
  // With the usual soft limit of open files, its accounting of file handles stops it at some 300 quorum queues.
  const child = spawn('bash', ['-c', `ulimit -n 65536 2>/dev/null; exec ${script}`], {
    stdio: 'ignore',
    detached: true,
    env: {
      ...process.env,
      HOME: base,
      RABBITMQ_NODENAME: `baton${port}@localhost`,
      RABBITMQ_NODE_PORT: String(port),
      RABBITMQ_DIST_PORT: String(await freePort()),
      RABBITMQ_MNESIA_BASE: join(base, 'mnesia'),
      RABBITMQ_LOG_BASE: join(base, 'log'),
      RABBITMQ_CONFIG_FILE: join(base, 'rabbitmq'),
      RABBITMQ_ENABLED_PLUGINS_FILE: join(base, 'enabled_plugins'),
    },
  });
  stops.push(() => endGroup(child));
  const url = `amqp://guest:guest@127.0.0.1:${port}`;
  await waitFor(() => rabbitAnswers(url), 'RabbitMQ');
  return url;
}

async function startRedis(home, stops) {
  ensurePrograms({ 'redis-server': 'redis-server' });
  const port = await freePort();
  const child = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', home],
    {
      stdio: 'ignore',
    },
  );
  stops.push(() => child.kill('SIGTERM'));
  const url = `redis://127.0.0.1:${port}`;
  await waitFor(() => redisAnswers(url), 'Redis');
  return url;
}

async function endGroup(child) {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  try {
    process.kill(-child.pid, 'SIGTERM');
    await ended;
  } catch {
    // It has ended already.
  }
}

async function findOrStart(variable, standard, answers, start, home, stops) {
  const given = process.env[variable];
  if (given) {
    if (!(await answers(given))) throw new Error(`${variable} is set, but no server answers there`);
    return given;
  }
  if (await answers(standard)) return standard;
  return await start(home, stops);
}

/**
 * @returns {Promise<{env: Record<string, string>, stop: () => Promise<void>}>} the three URLs, and the end of what was
 *   started here
 */
export async function ensureTestServices() {
  const home = mkdtempSync(join(tmpdir(), 'baton-test-services-'));
  const stops = [];
  const stop = async () => {
    for (const end of stops.reverse()) await end();
    rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 300 });
  };
  try {
    const find = (variable, standard, answers, start) =>
      findOrStart(variable, standard, answers, start, home, stops);
    const env = {
      DATABASE_URL: await find(
        'DATABASE_URL',
        'postgres://postgres@127.0.0.1:5432/postgres',
        postgresAnswers,
        startPostgres,
      ),
      AMQP_URL: await find('AMQP_URL', 'amqp://guest:guest@127.0.0.1:5672', rabbitAnswers, startRabbit),
      REDIS_URL: await find('REDIS_URL', 'redis://127.0.0.1:6379', redisAnswers, startRedis),
    };
    return { env, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
