import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { dropWithRoles, testUrls, withDatabase } from '@baton/testkit';
import pg from 'pg';
import { brokerMigrationEnv, serviceBrokerUrls } from './broker-logins';
import { migrationEnv, serviceDatabaseUrls } from './database-logins';
import { type Account, freePorts, type ManagedProcess, nodeProcess, root, untilAnswers } from './processes';

export type Mode = 'standalone' | 'services';

/** A running manager for tests: processes that can be hurt, one address to talk to. */
export interface Fleet {
  mode: Mode;
  baseUrl: string;
  /** Of every gateway; the first is `baseUrl`. */
  baseUrls: string[];
  adminPassword: string;
  /** Folder of logs and data; removed by `stop`. */
  dir: string;
  /** Services mode: every process; standalone: the manager, whose workers are its own children. */
  processes: Map<string, ManagedProcess>;
  workers(): ManagedProcess[];
  /** Of the one that migrates; each service of services mode has a login of its own. */
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
  /** Further processes of a service (services mode): `executions-2`, ... They take part in loops and messages; callers use the first. */
  replicas?: Partial<Record<(typeof SERVICES)[number], number>>;
  /** Gateways (services mode): `gateway`, `gateway-2`, ...; `baseUrls` has their addresses. */
  gateways?: number;
  env?: Record<string, string>;
  /** What one process gets beside that (services mode). */
  envOf?: (name: string) => Record<string, string>;
  /** Database to use, which stays; default a new one. */
  databaseUrl?: string;
  /** Servers to use; default those of the tests. */
  urls?: { postgres?: string; amqp?: string; redis?: string };
  /** Management API of that RabbitMQ (services mode): each service gets a user of its own there. */
  rabbitApi?: string;
  /** Where the bundles are; default dist/. Long runs take a copy: somebody may build meanwhile. */
  dist?: string;
  /** False: it is answered before it is ready (standalone), for what must not get ready. */
  isReadyAwaited?: boolean;
  /** Who the manager runs as (standalone), with a home of its own; default who runs the tests. */
  account?: Account;
}

const builtDist = join(root, 'dist');
/** Workers join with their token and hold no key of the services. */
function withoutKeys(
  service: string,
  env: Record<string, string | undefined>,
): Record<string, string | undefined> {
  if (service !== 'worker') return env;
  const { BATON_INTERNAL_KEY, BATON_SECRETS_KEY, BATON_ADMIN_PASSWORD, ...kept } = env;
  return kept;
}

/** What the services of services mode share, and no worker holds. */
export const INTERNAL_KEY = 'fleet-internal-key-0123456789';
/** What a worker of services mode registers with. */
export const JOIN_TOKEN = 'fleet-join-token-0123456789';
const ADMIN_PASSWORD = 'admin-test-password';
const SERVICES = ['identity', 'secrets', 'catalog', 'deployments', 'executions', 'cluster-status'] as const;

/** Starts a manager from dist/ in a database and queues of its own. */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  return options.mode === 'standalone' ? await startStandalone(options) : await startServices(options);
}

async function startStandalone(options: FleetOptions): Promise<Fleet> {
  const dir = mkdtempSync(join(tmpdir(), 'baton-fleet-'));
  // Operations run as others, and pass through to their folders.
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

/** What a server still writes while it ends is removed at the next try. */
const REMOVED = { recursive: true, force: true, maxRetries: 20, retryDelay: 100 };

async function startServices(options: FleetOptions): Promise<Fleet> {
  const dir = mkdtempSync(join(tmpdir(), 'baton-fleet-'));
  // Operations run as others, and pass through to their folders.
  chmodSync(dir, 0o711);
  const serverUrl = options.urls?.postgres ?? testUrls.postgres();
  const name = `baton_test_fleet_${process.pid}_${Date.now().toString(36)}`;
  if (options.databaseUrl === undefined)
    await onServer(serverUrl, (server) => server.query(`create database "${name}"`));
  const databaseUrl = options.databaseUrl ?? withDatabase(serverUrl, name);
  const databaseUrls = serviceDatabaseUrls(databaseUrl);
  const namespace = name.slice(-20).toLowerCase();
  const brokerUrls = options.rabbitApi ? serviceBrokerUrls(options.urls?.amqp ?? testUrls.amqp()) : {};
  await migrate(join(options.dist ?? builtDist, 'apps/standalone/migrate.main.js'), {
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

/** Not by spawnSync: the server may be reached through a proxy in this very process. */
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
        join(options.dist ?? builtDist, `services/${service}/main.js`),
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

/** What no test asked for explains why one fails; the logs go with the fleet. */
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
    // The port of a process that could not have it may be answered by somebody else.
    const ended = [...fleet.processes.values()].flatMap((process) => process.unexpectedEnd() ?? []);
    if (ended.length > 0) throw new Error(ended.join('; '));
    return fleet;
  } catch (error) {
    const logs = spawnSync('sh', ['-c', `tail -n 5 ${fleet.dir}/logs/*.log`], { encoding: 'utf8' }).stdout;
    await fleet.stop();
    throw new Error(`${(error as Error).message}\n${logs}`);
  }
}

/** The environment without settings of a manager that runs beside the tests. */
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
