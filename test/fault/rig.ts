import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@baton/client';
import {
  eventually,
  type RestartablePostgres,
  type RestartableRabbit,
  type RestartableServer,
  restartablePostgres,
  restartableRabbit,
  type TcpProxy,
  tcpProxy,
} from '@baton/testkit';
import { type Channel, connect } from 'amqplib';
import pg from 'pg';
import { type Fleet, startFleet } from '../harness/fleet';
import { type ManagedProcess, untilAnswers } from '../harness/processes';
import { adminClient, archiveOf, call, upload } from '../harness/session';
import { KEY_SECRET } from '../hosts/on-host';
import { type Host, type Relay, relay, startHosts } from '../hosts/rig';
import { type Ledger, openLedger } from './ledger';
import { parkedCount } from './queues';
import type { Sweeper } from './sweep';

/** A manager of real processes with its own servers, reached through proxies that can fail on purpose. */
export interface Rig {
  fleet: Fleet;
  client: Client;
  ledger: Ledger;
  /** Hosts for agents; empty in rows that ask for none. */
  hosts: Host[];
  /** The way to the first gateway for agents of the network `BAD_NETWORK`; null in rows without hosts. */
  badNetwork: Relay | null;
  /** Folder in which catalog and cluster-status keep temporary files. */
  temporary: string;
  postgres: RestartablePostgres;
  rabbit: RestartableRabbit;
  postgresProxy: TcpProxy;
  rabbitProxy: TcpProxy;
  /** Queries the database directly, not through the proxy. */
  sql<T extends object>(text: string, values?: unknown[]): Promise<T[]>;
  process(name: string): ManagedProcess;
  /** Sends kill -9 and waits until the process is gone. Returns the process id. */
  kill(name: string): Promise<number>;
  /** Notes that the row expects this process to die. */
  expectDead(name: string): void;
  /** Restarts the processes that the test killed; resolves when the API is ready. */
  heal(): Promise<void>;
  /** Names of processes that ended although no test killed them. */
  surprises(): string[];
  /** Connects to the broker directly, not through the proxy. */
  withChannel<T>(work: (channel: Channel) => Promise<T>): Promise<T>;
  /** Returns the number of parked messages. */
  parked(): Promise<number>;
  /**
   * Returns deployments and creates them on the first call: `<prefix>-0`, ... Their blueprint is `layers`, unless `of` names
   * another one.
   */
  deployments(
    prefix: string,
    count: number,
    of?: { blueprint?: Blueprint; inputs?: object; labels?: object[] },
  ): Promise<string[]>;
  /** Shifts the wall clock of a process by `ms`, within 200 ms; 0 resets it. */
  shiftClock(name: string, ms: number): void;
  stop(): Promise<void>;
}

export type Blueprint = 'layers' | 'wide' | 'once' | 'nested' | 'plugged' | 'canary';

export const INTERNAL_KEY = 'fleet-internal-key-0123456789';
export const WORKERS = ['worker-1', 'worker-2', 'worker-3'];
/** Two replicas of the engine: the gateway and the workers call the first; loops and messages run in both. */
export const ENGINES = ['executions', 'executions-2'];
/** Connections of one process to PostgreSQL, which allows sixty. */
export const CONNECTIONS = 7;
/** An operation whose agent does not come fails after this time. */
const AGENTS = { BATON_AGENT_WAIT: '20s', BATON_TASK_RETRIES: '2' };
/** Key of the network of agents (`network` of agent_config) whose way to the gateway can be made bad. */
export const BAD_NETWORK = 'bad';
/** Slots of a worker: enough for a hundred running operations. */
const SLOTS = 60;

interface RigOptions {
  slots?: number | undefined;
  databaseBytes?: number | undefined;
  hosts?: number | undefined;
}

/** Starts everything; takes some 10 s. Everything started here ends with `stop`, or when a step here fails. */
export async function startRig(
  dist: string,
  sweeper: Sweeper,
  { slots = SLOTS, databaseBytes, hosts = 0 }: RigOptions = {},
): Promise<Rig> {
  const dir = mkdtempSync(join(tmpdir(), 'baton-fault-'));
  sweeper.addFolder(dir);
  const undo: (() => Promise<void> | void)[] = [() => rmSync(dir, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    // Processes that a row left paused or cut off could not end by themselves.
    for (const step of undo.reverse().splice(0)) {
      await Promise.resolve()
        .then(step)
        .catch((error: Error) => console.error(`could not stop: ${error.message}`));
    }
  };
  try {
    return await build({ dir, dist, slots, sweeper, databaseBytes, hosts }, undo, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function build(
  at: RigOptions & { dir: string; dist: string; slots: number; sweeper: Sweeper; hosts: number },
  undo: (() => Promise<void> | void)[],
  stop: () => Promise<void>,
): Promise<Rig> {
  const { dir, dist, slots, sweeper } = at;
  const { postgres, rabbit } = await startServers(undo, at);
  const temporary = join(dir, 'tmp');
  mkdirSync(temporary);
  const postgresProxy = await tcpProxy(addressOf(postgres.url));
  const rabbitProxy = await tcpProxy(addressOf(rabbit.url));
  undo.push(postgresProxy.close, rabbitProxy.close);
  const ledger = openLedger(dir);
  const hosts = at.hosts > 0 ? await startHosts(at.hosts) : null;
  if (hosts) undo.push(hosts.stop);
  const gateway = { host: '127.0.0.1', port: 0 };
  const badNetwork = hosts && (await relay(hosts.managerAddress, gateway));
  if (badNetwork) undo.push(badNetwork.close);
  const fleet = await startFleet({
    mode: 'services',
    workers: WORKERS.length,
    dist,
    urls: { postgres: postgresProxy.through(postgres.url), amqp: rabbitProxy.through(rabbit.url) },
    replicas: { executions: ENGINES.length },
    ...(hosts && { gateways: 2, listen: hosts.managerAddress }),
    env: {
      ...(hosts && AGENTS),
      ...(badNetwork && {
        BATON_AGENTS_NETWORKS: `${BAD_NETWORK}=http://${badNetwork.host}:${badNetwork.port}`,
      }),
      BATON_WORKER_HANDLERS: join(dist, 'ledger-handlers.js'),
      BATON_WORKER_SLOTS: String(slots),
      // An isolated worker can neither write to the ledger, which lies outside of the system, nor let scripts find its process as
      // their parent.
      BATON_WORKER_ISOLATION: 'none',
      FAULT_DIR: dir,
      NODE_OPTIONS: `--max-old-space-size=256 --require ${join(dist, 'clock-shift.js')}`,
      BATON_DATABASE_CONNECTIONS: String(CONNECTIONS),
      BATON_TASK_RETRY_INTERVAL: '1',
      BATON_WEBHOOKS_ALLOW: '127.0.0.1',
    },
    envOf: (name) => ({
      FAULT_PROCESS: name,
      // Only these two store large files. Processes that workers start must reach their own temporary files.
      ...(['catalog', 'cluster-status'].includes(name) ? { TMPDIR: temporary } : {}),
    }),
  });
  undo.push(fleet.stop);
  // A paused or cut-off process could not end by itself; an orderly stop is not under test here.
  undo.push(() => void [...fleet.processes.values()].map((one) => one.signal('SIGKILL')));
  sweeper.addFolder(fleet.dir);
  const database = new URL(fleet.databaseUrl);
  database.host = new URL(postgres.url).host;
  const pool = new pg.Pool({ connectionString: database.href, max: 2, connectionTimeoutMillis: 5_000 });
  pool.on('error', () => undefined);
  undo.push(() => pool.end());
  const client = adminClient(fleet);
  Object.assign(gateway, addressOf(fleet.baseUrl));
  if (hosts) await readyForAgents(client, hosts.hosts[0]!);
  const killed = new Set<string>();
  const withChannel = async <T>(work: (channel: Channel) => Promise<T>): Promise<T> => {
    const connection = await connect(rabbit.url, { timeout: 5_000 });
    connection.on('error', () => undefined);
    try {
      return await work(await connection.createChannel());
    } finally {
      await connection.close().catch(() => undefined);
    }
  };
  const process = (name: string): ManagedProcess => fleet.processes.get(name)!;
  return {
    fleet,
    client,
    ledger,
    hosts: hosts?.hosts ?? [],
    badNetwork,
    temporary,
    postgres,
    rabbit,
    postgresProxy,
    rabbitProxy,
    sql: async (text, values) => (await pool.query(text, values)).rows,
    process,
    kill: async (name) => {
      const pid = process(name).pid()!;
      killed.add(name);
      process(name).signal('SIGKILL');
      await process(name).ended();
      return pid;
    },
    expectDead: (name) => void killed.add(name),
    heal: async () => {
      postgresProxy.heal();
      rabbitProxy.heal();
      for (const one of fleet.processes.values()) one.start();
      killed.clear();
      await untilAnswers(`${fleet.baseUrl}/readyz`);
    },
    surprises: () =>
      [...fleet.processes.values()]
        .filter((one) => one.pid() === null && !killed.has(one.name))
        .map((one) => one.name),
    withChannel,
    parked: () => withChannel(async (channel) => parkedCount(channel, fleet.namespace)),
    deployments: deploymentMaker(client, ledger),
    shiftClock: (name, ms) => writeFileSync(join(dir, `clock-${name}`), String(ms)),
    stop,
  };
}

/** Stores the login key, and waits until a gateway has told of its packages: before that nothing can be installed. */
async function readyForAgents(client: Client, host: Host): Promise<void> {
  await call(client, 'putSecret', { secret_key: KEY_SECRET }, { value: host.key });
  await eventually(() => call(client, 'upgradeAgents', {}, {}), { deadlineMs: 60_000 });
}

/** Starts both servers or neither: if one fails to start, the other is stopped. */
async function startServers(
  undo: (() => Promise<void> | void)[],
  { databaseBytes, sweeper }: { databaseBytes?: number | undefined; sweeper: Sweeper },
): Promise<{ postgres: RestartablePostgres; rabbit: RestartableRabbit }> {
  const noted = <Server extends RestartableServer>(starting: Promise<Server>): Promise<Server> =>
    starting.then((server) => {
      undo.push(server.close);
      return server;
    });
  const [postgres, rabbit] = await Promise.allSettled([
    noted(
      restartablePostgres(
        databaseBytes === undefined ? {} : { diskBytes: databaseBytes, onMount: sweeper.addFolder },
      ),
    ),
    noted(restartableRabbit()),
  ]);
  if (postgres.status === 'rejected') throw postgres.reason;
  if (rabbit.status === 'rejected') throw rabbit.reason;
  return { postgres: postgres.value, rabbit: rabbit.value };
}

function deploymentMaker(client: Client, ledger: Ledger): Rig['deployments'] {
  const uploads = new Map<Blueprint, Promise<unknown>>();
  const made = new Set<string>();
  return async (prefix, count, of = {}) => {
    const { blueprint = 'layers', inputs = { ledger: ledger.path }, labels = [] } = of;
    const archive = (): Promise<unknown> =>
      upload(client, blueprint, archiveOf(join(__dirname, 'blueprints', blueprint)));
    if (!uploads.has(blueprint)) uploads.set(blueprint, archive());
    await uploads.get(blueprint);
    const ids = Array.from({ length: count }, (_, i) => `${prefix}-${i}`);
    const missing = ids.filter((id) => !made.has(id));
    await Promise.all(
      missing.map((id) =>
        call(client, 'createDeployment', { id }, { blueprint_id: blueprint, inputs, labels }),
      ),
    );
    for (const id of missing) made.add(id);
    return ids;
  };
}

function addressOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}
