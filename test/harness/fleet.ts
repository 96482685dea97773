import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { dropWithRoles, testUrls, withDatabase, withoutDiskWaits } from '@baton/testkit';
import pg from 'pg';
import { brokerMigrationEnv, serviceBrokerUrls } from './broker-logins';
import { migrationEnv, serviceDatabaseUrls } from './database-logins';
import { fillHome } from './prepared-data';
import { type Account, freePorts, type ManagedProcess, nodeProcess, root, untilAnswers } from './processes';

export type Mode = 'standalone' | 'services';

/** A running manager for tests: processes that tests can kill or pause, behind one address. */
export interface Fleet {
  mode: Mode;
  baseUrl: string;
  /** Addresses of all gateways; the first is `baseUrl`. */
  baseUrls: string[];
  adminPassword: string;
  /** Folder of logs and data; removed by `stop`. */
  dir: string;
  /** Services mode: every process. Standalone: the manager, whose workers are its child processes. */
  processes: Map<string, ManagedProcess>;
  workers(): ManagedProcess[];
  /** Database address of the migrating user. In services mode each service has its own login. */
  databaseUrl: string;
  /** host:port of the rpc servers by service; empty in standalone. */
  rpc: Record<string, string>;
  /** http://host:port of the HTTP servers by service; empty in standalone. */
  http: Record<string, string>;
  /** Prefix of the queues in RabbitMQ; empty in standalone. */
  namespace: string;
  stop(): Promise<void>;
}

export interface FleetOptions {
  mode: Mode;
  workers?: number;
  /**
   * Additional processes of a service (services mode): `executions-2`, ... They take part in loops and messages; callers use the
   * first process.
   */
  replicas?: Partial<Record<(typeof SERVICES)[number], number>>;
  /** Number of gateways (services mode): `gateway`, `gateway-2`, ...; `baseUrls` has their addresses. */
  gateways?: number;
  env?: Record<string, string>;
  /** Additional environment of one process (services mode). */
  envOf?: (name: string) => Record<string, string>;
  /** An existing database, which is kept; default: a new one. */
  databaseUrl?: string;
  /** Servers to use; default: the servers of the tests. */
  urls?: { postgres?: string; amqp?: string; redis?: string };
  /** Management API of the RabbitMQ in `urls` (services mode): each service gets its own user there. */
  rabbitApi?: string;
  /** Folder of the bundles; default dist/. Long runs use a copy, because a build may run meanwhile. */
  dist?: string;
  /** Folder of the bundles of one image of deploy/Dockerfile (services mode); goes before `dist`. */
  distOf?: (image: string) => string;
  /** False: returns before the manager is ready (standalone), for managers that must not become ready. */
  isReadyAwaited?: boolean;
  /** Address by which hosts of test/hosts reach the API (of the first gateway); default: only this machine reaches it. */
  listen?: string;
  /** Account of the manager (standalone), with its own home; default: the account of the tests. */
  account?: Account;
}

const builtDist = join(root, 'dist');
/** Removes keys from a worker's environment: workers join with their token and hold no key of the services. */
function withoutKeys(
  service: string,
  env: Record<string, string | undefined>,
): Record<string, string | undefined> {
  if (service !== 'worker') return env;
  const { BATON_INTERNAL_KEY, BATON_SECRETS_KEY, BATON_ADMIN_PASSWORD, ...kept } = env;
  return kept;
}

/** Key that the services share in services mode; workers do not have it. */
export const INTERNAL_KEY = 'fleet-internal-key-0123456789';
/** Token with which a worker registers in services mode. */
export const JOIN_TOKEN = 'fleet-join-token-0123456789';
const ADMIN_PASSWORD = 'admin-test-password';
const SERVICES = ['identity', 'secrets', 'catalog', 'deployments', 'executions', 'cluster-status'] as const;

/** Starts a manager from dist/ with its own database and queues. */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  return options.mode === 'standalone' ? await startStandalone(options) : await startServices(options);
}

async function startStandalone(options: FleetOptions): Promise<Fleet> {
  const dir = mkdtempSync(join(tmpdir(), 'baton-fleet-'));
  // Operations run as other users and must pass through to their own folders.
  chmodSync(dir, 0o711);
  const { account } = options;
  if (account) chownSync(dir, account.uid, account.gid);
  const [port] = await freePorts(1);
  const env = {
    ...cleanEnv(),
    ...(account && { HOME: dir }),
    BATON_HOME: join(dir, 'home'),
    BATON_WORKER_DIR: join(dir, 'work'),
    BATON_PORT: String(port),
    BATON_ADMIN_PASSWORD: ADMIN_PASSWORD,
    BATON_WORKERS: String(options.workers ?? 1),
    BATON_LOG_LEVEL: 'info',
    // Tests begin with an empty manager.
    BATON_BUNDLED_PLUGINS: 'off',
    ...(options.listen === undefined ? {} : reachedBy(options.listen, port!)),
    ...(options.databaseUrl === undefined ? {} : { DATABASE_URL: options.databaseUrl }),
    ...options.env,
  };
  const manager = nodeProcess(
    'standalone',
    join(options.dist ?? builtDist, 'apps/standalone/main.js'),
    env,
    join(dir, 'logs'),
    account,
  );
  if (!needsOwnStart(options, env))
    await fillHome(env.BATON_HOME, options.dist ?? builtDist, (more) => migrate(migrateMain(options), more));
  manager.start();
  const baseUrl = `http://127.0.0.1:${port}`;
  const fleet: Fleet = {
    mode: 'standalone',
    baseUrl,
    baseUrls: [baseUrl],
    adminPassword: ADMIN_PASSWORD,
    dir,
    processes: new Map([['standalone', manager]]),
    workers: () => [],
    databaseUrl: '',
    rpc: {},
    http: {},
    namespace: '',
    async stop() {
      tellUnexpectedEnds(fleet);
      await manager.stop();
      rmSync(dir, REMOVED);
    },
  };
  if (options.isReadyAwaited === false) return fleet;
  return await readyOrStopped(fleet);
}

/** Environment of a manager whose API hosts reach at this address. */
const reachedBy = (address: string, port: number): Record<string, string> => ({
  BATON_HOST: '0.0.0.0',
  BATON_AGENTS_URL: `http://${address}:${port}`,
});

/** Variables that a prepared data folder would contradict. */
const OF_DATABASE = ['DATABASE_URL', 'BATON_DATABASE_ROLES', 'BATON_ROW_SECURITY'];

/** True when the manager must make its data folder itself, or has none. */
const needsOwnStart = (options: FleetOptions, env: NodeJS.ProcessEnv): boolean =>
  options.isReadyAwaited === false ||
  options.account !== undefined ||
  options.env?.BATON_HOME !== undefined ||
  OF_DATABASE.some((name) => name in env);

/** Options of removing a folder: retries, because an ending server may still write into it. */
const REMOVED = { recursive: true, force: true, maxRetries: 20, retryDelay: 100 };

async function startServices(options: FleetOptions): Promise<Fleet> {
  const dir = mkdtempSync(join(tmpdir(), 'baton-fleet-'));
  // Operations run as other users and must pass through to their own folders.
  chmodSync(dir, 0o711);
  const serverUrl = options.urls?.postgres ?? testUrls.postgres();
  const name = `baton_test_fleet_${process.pid}_${Date.now().toString(36)}`;
  if (options.databaseUrl === undefined)
    await onServer(serverUrl, async (server) => {
      await server.query(`create database "${name}"`);
      // The test may crash a server that it names itself: such a server must keep waiting for the disk.
      if (options.urls?.postgres === undefined) await server.query(withoutDiskWaits(name));
    });
  const databaseUrl = options.databaseUrl ?? withDatabase(serverUrl, name);
  const databaseUrls = serviceDatabaseUrls(databaseUrl);
  const namespace = name.slice(-20).toLowerCase();
  const brokerUrls = options.rabbitApi ? serviceBrokerUrls(options.urls?.amqp ?? testUrls.amqp()) : {};
  await migrate(migrateMain(options), {
    DATABASE_URL: databaseUrl,
    ...migrationEnv(databaseUrls),
    ...(options.rabbitApi && {
      BATON_NAMESPACE: namespace,
      BATON_RABBITMQ_API_URL: options.rabbitApi,
      ...brokerMigrationEnv(brokerUrls),
    }),
  });
  const { processes, gatewayPorts, http, rpc } = await serviceProcesses(options, {
    dir,
    databaseUrls,
    brokerUrls,
    namespace,
  });
  for (const process of processes.values()) process.start();
  const baseUrls = gatewayPorts.map((port) => `http://127.0.0.1:${port}`);
  const fleet: Fleet = {
    mode: 'services',
    baseUrl: baseUrls[0]!,
    baseUrls,
    adminPassword: ADMIN_PASSWORD,
    dir,
    processes,
    workers: () => [...processes.values()].filter((process) => process.name.startsWith('worker')),
    databaseUrl,
    rpc,
    http,
    namespace,
    async stop() {
      tellUnexpectedEnds(fleet);
      await Promise.all([...processes.values()].map((process) => process.stop()));
      if (options.databaseUrl === undefined)
        await onServer(serverUrl, (server) => dropWithRoles(server, name));
      rmSync(dir, REMOVED);
    },
  };
  // A gateway is ready before the services behind it are.
  return await readyOrStopped(fleet, [...Object.values(http), ...baseUrls]);
}

const distFor = ({ dist = builtDist, distOf }: FleetOptions, image: string): string =>
  distOf?.(image) ?? dist;
const migrateMain = (options: FleetOptions): string =>
  join(distFor(options, 'migrate'), 'apps/standalone/migrate.main.js');

/** Runs the migrations. Not with spawnSync: the server may be reached through a proxy in this very process. */
async function migrate(main: string, databases: Record<string, string>): Promise<void> {
  const env = { ...cleanEnv(), ...databases };
  await promisify(execFile)(process.execPath, [main], { env }).catch(
    (error: Error & { stdout: string; stderr: string }) => {
      throw new Error(`migrations failed: ${error.stdout}${error.stderr}`);
    },
  );
}

async function serviceProcesses(
  options: FleetOptions,
  at: {
    dir: string;
    databaseUrls: Record<string, string>;
    /** Empty: all services share the user of AMQP_URL. */
    brokerUrls: Record<string, string>;
    namespace: string;
  },
): Promise<{
  processes: Map<string, ManagedProcess>;
  gatewayPorts: number[];
  http: Record<string, string>;
  rpc: Record<string, string>;
}> {
  const gateways = options.gateways ?? 1;
  const ports = await freePorts(2 * SERVICES.length + gateways);
  const rpcPorts = Object.fromEntries(SERVICES.map((service, i) => [service, ports[i]!]));
  const httpPorts = Object.fromEntries(SERVICES.map((service, i) => [service, ports[SERVICES.length + i]!]));
  const gatewayPorts = ports.slice(-gateways);
  const variable = (service: string) => service.toUpperCase().replace('-', '_');
  const env = {
    ...cleanEnv(),
    AMQP_URL: options.urls?.amqp ?? testUrls.amqp(),
    REDIS_URL: options.urls?.redis ?? testUrls.redis(),
    BATON_NAMESPACE: at.namespace,
    BATON_INTERNAL_KEY: INTERNAL_KEY,
    BATON_WORKER_JOIN_TOKEN: JOIN_TOKEN,
    BATON_SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
    BATON_ADMIN_PASSWORD: ADMIN_PASSWORD,
    BATON_BLOBS: join(at.dir, 'blobs'),
    BATON_LOG_LEVEL: 'info',
    BATON_DRAIN: '3s',
    ...(options.listen === undefined
      ? {}
      : { BATON_AGENTS_URL: `http://${options.listen}:${gatewayPorts[0]}` }),
    ...Object.fromEntries(
      SERVICES.map((service) => [`BATON_RPC_${variable(service)}`, `127.0.0.1:${rpcPorts[service]}`]),
    ),
    ...Object.fromEntries(
      SERVICES.map((service) => [
        `BATON_HTTP_${variable(service)}`,
        `http://127.0.0.1:${httpPorts[service]}`,
      ]),
    ),
    ...options.env,
  };
  const processes = new Map<string, ManagedProcess>();
  const add = (service: string, name: string, more: Record<string, string>) => {
    const url = at.databaseUrls[service];
    const broker = at.brokerUrls[service];
    const own = {
      ...(url === undefined ? {} : { DATABASE_URL: url }),
      ...(broker === undefined ? {} : { AMQP_URL: broker, BATON_AMQP_TOPOLOGY: 'check' }),
    };
    processes.set(
      name,
      nodeProcess(
        name,
        join(distFor(options, service), `services/${service}/main.js`),
        withoutKeys(service, { ...env, ...own, ...options.envOf?.(name), ...more }),
        join(at.dir, 'logs'),
      ),
    );
  };
  for (const service of SERVICES) {
    add(service, service, {
      BATON_HTTP_PORT: String(httpPorts[service]),
      BATON_RPC_PORT: String(rpcPorts[service]),
    });
    for (let i = 2; i <= (options.replicas?.[service] ?? 1); i++)
      add(service, `${service}-${i}`, { BATON_HTTP_PORT: '0', BATON_RPC_PORT: '0' });
  }
  for (const [i, port] of gatewayPorts.entries())
    add('gateway', i === 0 ? 'gateway' : `gateway-${i + 1}`, {
      BATON_PORT: String(port),
      BATON_HTTP_PORT: String(port),
      BATON_RPC_PORT: '0',
      ...(options.listen === undefined ? {} : { BATON_HOST: '0.0.0.0' }),
    });
  for (let i = 1; i <= (options.workers ?? 1); i++) {
    add('worker', `worker-${i}`, {
      BATON_HTTP_PORT: '0',
      BATON_RPC_PORT: '0',
      BATON_WORKER_DIR: join(at.dir, `work-${i}`),
      BATON_WORKER_MANAGER_URL: `http://127.0.0.1:${gatewayPorts[0]}`,
    });
  }
  const rpc = Object.fromEntries(SERVICES.map((service) => [service, `127.0.0.1:${rpcPorts[service]}`]));
  const http = Object.fromEntries(
    SERVICES.map((service) => [service, `http://127.0.0.1:${httpPorts[service]}`]),
  );
  return { processes, gatewayPorts, http, rpc };
}

/** Prints unexpected ends of processes: they explain a failing test, and the logs are deleted together with the fleet. */
function tellUnexpectedEnds({ processes, dir }: Fleet): void {
  for (const process of processes.values()) {
    const end = process.unexpectedEnd();
    if (end === null) continue;
    const { stdout } = spawnSync('tail', ['-n', '20', join(dir, 'logs', `${process.name}.log`)], {
      encoding: 'utf8',
    });
    console.error(`${end}; its last lines:\n${stdout}`);
  }
}

async function readyOrStopped(fleet: Fleet, origins = fleet.baseUrls): Promise<Fleet> {
  try {
    for (const origin of origins) await untilAnswers(`${origin}/readyz`);
    // If a process could not get its port, another program may answer there.
    const ended = [...fleet.processes.values()].flatMap((process) => process.unexpectedEnd() ?? []);
    if (ended.length > 0) throw new Error(ended.join('; '));
    return fleet;
  } catch (error) {
    const logs = spawnSync('sh', ['-c', `tail -n 5 ${fleet.dir}/logs/*.log`], { encoding: 'utf8' }).stdout;
    await fleet.stop();
    throw new Error(`${(error as Error).message}\n${logs}`);
  }
}

/** Returns the environment without settings of another manager. */
function cleanEnv(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('BATON_') && !/^(DATABASE|AMQP|REDIS)_URL$/.test(name),
  );
  return Object.fromEntries(kept);
}

async function onServer(url: string, work: (server: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
