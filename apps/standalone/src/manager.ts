import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Broker } from '@baton/broker';
import { doctorRpc, importsRpc, snapshotsRpc, tenantsRpc } from '@baton/contracts';
import * as gateway from '@baton/gateway';
import type { Log } from '@baton/kernel';
import {
  createGuardedPassage,
  createLocalRpc,
  createRpcRelay,
  createRpcServer,
  type RpcRelay,
} from '@baton/rpc';
import {
  ConfigError,
  createLocalHttp,
  createLogger,
  guardOf,
  loadConfig,
  openTransport,
  type Running,
  type RuntimeConfig,
  runtimeConfig,
  type StartEntry,
  schemaOf,
  sealsOfAll,
  startParts,
  type Transport,
  transportProblems,
} from '@baton/service-runtime';
import {
  connectBlobs,
  connectBroker,
  connectCache,
  connectInfra,
  newInstanceId,
} from '@baton/service-runtime/infra';
import { derivedTrust } from '@baton/trust';
import { type AdminLogin, ensureAdmin } from './admin-password';
import { agentsUrl } from './agents-url';
import type { StandaloneConfig } from './config';
import { checkDatabase } from './database-check';
import { brokerUrl, newLogins, urlFor } from './database-logins';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres';
import { type Home, homeFolder, homePaths, makeHomeFolder, openHome } from './home';
import { type HomeOwner, ownHome } from './home-owner';
import { migrateAll, migrationFolders } from './migrate';
import { checkVariables } from './own-variables';
import { portProblem } from './port-check';
import { StartRefused } from './refusal';
import { services } from './services';
import { workerEnvironment } from './worker-environment';
import { startWorkers, type WorkerProcesses } from './worker-processes';
import { workerSocket } from './worker-socket';

export interface Manager extends AdminLogin {
  url: string;
  home: Home;
  workers: WorkerProcesses;
  /** Stops everything: runs every step, also when an earlier one failed. */
  stop(): Promise<void>;
}

/** Definitions that every service serves under the same name; only services of this process call them. */
const SERVED_BY_ALL = new Set<unknown>([
  snapshotsRpc.SnapshotPartServiceDefinition,
  tenantsRpc.TenantPartServiceDefinition,
  doctorRpc.DoctorPartServiceDefinition,
  importsRpc.ImportPartServiceDefinition,
]);

/** Limits of the check whether the database still answers at a stop, and of the stop of workers when it does not. */
const CHECK_LIMIT_MS = 2_500;
const UNTOLD_STOP_MS = 3_000;

/** A step of the stop; steps run in reverse order. */
type Undo = () => Promise<unknown> | unknown;

/** The state that every step of a start gets. */
interface Start {
  config: StandaloneConfig;
  log: Log;
  mainDir: string;
  undo: Undo[];
  /** Aborts the start before the next step. */
  signal: AbortSignal;
}

/**
 * Starts the manager: the embedded database (or the given one), migrations, all services in this process behind one port, and
 * separate worker processes. First it checks for possible problems; it changes nothing that belongs to another manager. `signal`
 * aborts the start.
 * @throws after undoing the started parts: StartRefused, ConfigError, the reason of `signal`, or an unexpected error.
 */
export async function startManager(
  config: StandaloneConfig,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal = new AbortController().signal,
): Promise<Manager> {
  const undo: Undo[] = [];
  const log = createLogger({ service: 'standalone', level: config.BATON_LOG_LEVEL });
  const mainDir = dirname(require.main?.filename ?? __filename);
  const stop = async () => {
    for (const step of undo.splice(0).reverse())
      await Promise.resolve()
        .then(step)
        .catch((err: unknown) => log.error({ err }, 'a step of the stop failed'));
  };
  try {
    return await start({ config, log, mainDir, undo, signal }, env, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(o: Start, env: NodeJS.ProcessEnv, stop: () => Promise<void>): Promise<Manager> {
  const { config, log, mainDir, undo, signal } = o;
  const { home, owner, transport } = await ownedHome(o, env);
  const { databaseUrl, embedded } = await databaseOf(o, home, transport);
  signal.throwIfAborted();
  const logins = config.BATON_DATABASE_ROLES === 'on' ? newLogins(databaseUrl) : null;
  const hasRowSecurity = env.BATON_ROW_SECURITY !== 'off';
  await migrateAll({
    url: databaseUrl,
    trust: transport.servers,
    mainDir,
    log,
    hasRowSecurity,
    logins,
  });
  signal.throwIfAborted();
  const urlOf = (schema: string | null) => urlFor(databaseUrl, logins, schema);
  // Before identity starts: identity would print a generated password without storing it.
  const admin = await ensureAdmin(config, home, urlOf('identity')!, transport);
  signal.throwIfAborted();
  // From here on, the address of the database owner is not used any more.
  const serviceEnv = serviceEnvironment(config, env, home, brokerUrl(databaseUrl, logins));
  const watched: Watched = { embedded, workers: null };
  const { running, rpcSocket, relay, broker } = await startServices(o, {
    env: serviceEnv,
    home,
    urlOf,
    transport,
    watched,
  });
  signal.throwIfAborted();
  const edge = running.services.find((service) => service.name === 'gateway')!;
  const host = config.BATON_HOST === '0.0.0.0' ? '127.0.0.1' : config.BATON_HOST;
  const url = `${transport.edge ? 'https' : 'http'}://${host}:${edge.httpPort}`;
  const workers = startWorkers({
    count: config.BATON_WORKERS,
    main: workerMain(mainDir),
    env: {
      BATON_WORKER_MANAGER_URL: url,
      // A person who stops a manager in a terminal waits for it.
      BATON_WORKER_STOP_AFTER: '10s',
      // A person who tries it out may have no means of isolation; a warning tells so.
      BATON_WORKER_ISOLATION: 'best',
      BATON_WORKER_HIDDEN_PATHS: home.dir,
      ...workerEnvironment(serviceEnv),
      ...rpcAddresses(rpcSocket),
      BATON_HTTP_PORT: '0',
      BATON_RPC_PORT: '0',
      BATON_HOST: '127.0.0.1',
    },
    log,
    relay,
    broker,
  });
  watched.workers = workers;
  undo.push(async () => {
    // Without a database the workers cannot report results any more: their leases run out.
    const isTold = await within(checkServices(running), CHECK_LIMIT_MS);
    await workers.stop(isTold ? undefined : UNTOLD_STOP_MS);
  });
  owner.serves(url);
  return { url, ...admin, home, workers, stop };
}

/**
 * Opens the home, with this process as its owner. Before that, an absent home may be created, and nothing else is changed. Problems
 * that prevent the start in any case are reported even before that.
 */
async function ownedHome(
  { config, log, undo }: Start,
  env: NodeJS.ProcessEnv,
): Promise<{ home: Home; owner: HomeOwner; transport: Transport }> {
  const dir = homeFolder(config.BATON_HOME);
  const planned = { ...homePaths(dir), internalKey: 'x'.repeat(32) };
  checkVariables(env, serviceEnvironment(config, env, planned, 'postgres://127.0.0.1/baton'));
  const transport = transportOf(env, planned, log);
  undo.push(() => transport.close());
  const problem = await portProblem(config.BATON_HOST, config.BATON_PORT);
  if (problem && !existsSync(dir)) throw problem;
  makeHomeFolder(dir);
  // An existing owner is reported first: it tells more than that the port is in use.
  const owner = await ownHome(dir);
  undo.push(() => owner.release());
  if (problem) throw problem;
  return { home: openHome(dir), owner, transport };
}

async function databaseOf(
  { config, log, mainDir, undo, signal }: Start,
  home: Home,
  transport: Transport,
): Promise<{ databaseUrl: string; embedded: EmbeddedPostgres | null }> {
  const given = config.DATABASE_URL?.expose();
  const embedded =
    given === undefined ? await startEmbeddedPostgres({ dataDir: home.postgresDir, log, signal }) : null;
  if (embedded) {
    // For every end of this process: the server gets a signal, but nothing waits for its end.
    process.once('exit', embedded.endNow);
    undo.push(async () => {
      await embedded.stop();
      process.off('exit', embedded.endNow);
    });
  }
  const databaseUrl = given ?? embedded!.url;
  await checkDatabase({ url: databaseUrl, trust: transport.servers }, migrationFolders(mainDir));
  return { databaseUrl, embedded };
}

/** @throws StartRefused when the given RabbitMQ does not answer: all services would wait for it. */
async function requireBroker(broker: Broker, config: StandaloneConfig): Promise<void> {
  if (!config.AMQP_URL) return;
  try {
    await broker.ping();
  } catch (error) {
    const { hostname, port } = new URL(config.AMQP_URL.expose());
    throw new StartRefused(
      `RabbitMQ at ${hostname}:${port || '5672'} (AMQP_URL) does not answer, or refuses the login.`,
      1,
      { cause: error },
    );
  }
}

function serviceEnvironment(
  config: StandaloneConfig,
  env: NodeJS.ProcessEnv,
  home: Home,
  databaseUrl: string,
): NodeJS.ProcessEnv {
  return {
    BATON_SECRETS_KEY_FILE: home.secretsKeyFile,
    BATON_DATABASE_CONNECTIONS: '8',
    BATON_BLOBS: home.blobsDir,
    BATON_WORKER_DIR: home.workDir,
    BATON_AGENTS_URL: agentsUrl(config, env),
    ...env,
    BATON_INTERNAL_KEY: env.BATON_INTERNAL_KEY ?? home.internalKey,
    BATON_LOG_LEVEL: config.BATON_LOG_LEVEL,
    DATABASE_URL: databaseUrl,
    BATON_BROKER: config.AMQP_URL ? 'rabbitmq' : 'postgres',
    BATON_HTTP_PORT: String(config.BATON_PORT),
    BATON_RPC_PORT: '0',
    // Services of one process share its memory, so key files could not keep them apart.
    BATON_IDENTITY: 'auto',
    BATON_IDENTITY_KEY_FILE: undefined,
    BATON_TRUST_FILE: undefined,
  };
}

interface ServicesStart {
  env: NodeJS.ProcessEnv;
  home: Home;
  /** Returns the database address of the owner of a schema; null: no database. */
  urlOf: (schema: string | null) => string | null;
  transport: Transport;
  watched: Watched;
}

/** Processes besides this one; the manager is not ready without them. */
interface Watched {
  embedded: EmbeddedPostgres | null;
  /** Null until they are started. */
  workers: WorkerProcesses | null;
}

function processChecks(watched: Watched): Record<string, () => Promise<void>> {
  const { embedded } = watched;
  return {
    ...(embedded ? { database_server: async () => embedded.check() } : {}),
    workers: async () => {
      const problem = watched.workers?.problem() ?? null;
      if (problem !== null) throw new Error(problem);
    },
  };
}

/** Whether the database answers the services. */
async function checkServices(running: Running): Promise<boolean> {
  const all = await Promise.all(running.services.map(({ health }) => health.results()));
  return all.every((results) => results.database?.ok !== false);
}

async function within(check: Promise<boolean>, limitMs: number): Promise<boolean> {
  const late = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), limitMs).unref());
  return await Promise.race([check, late]);
}

async function startServices(
  { config: own, log, undo }: Start,
  { env, home, urlOf, transport, watched }: ServicesStart,
): Promise<{ running: Running; rpcSocket: string; relay: RpcRelay; broker: Broker }> {
  const runtime = loadConfig(runtimeConfig, env);
  const [localRpc, localHttp] = [createLocalRpc(), createLocalHttp()];
  const broker = connectBroker(runtime, log, { transport, seals: sealsOfAll(runtime) });
  const cache = connectCache(runtime, log, transport);
  undo.push(() => broker.close());
  undo.push(() => cache.close());
  await requireBroker(broker, own);
  // Calls that the gateway passes on for agents are checked as those that come over a network.
  const names = services.map(({ serviceName }) => serviceName);
  const guard = guardOf(runtime, derivedTrust('executions', runtime.BATON_INTERNAL_KEY!), names);
  const shared = {
    broker,
    cache,
    passage: createGuardedPassage(localRpc, { guard, log }),
    localHttp,
    blobs: connectBlobs(runtime, transport),
    transport,
    instanceId: newInstanceId(),
  };
  // Workers are separate processes. They reach the same handlers over their channel, and streams by a socket in the home, which no
  // other user may open: so no port and no certificate are needed.
  const relay = createRpcRelay(localRpc, { guard, log });
  const rpcServer = createRpcServer({ log, guard });
  const entries: StartEntry[] = [];
  for (const service of services) {
    const schema = schemaOf(service.serviceName);
    const { DATABASE_URL: _broker, ...others } = env;
    const url = urlOf(schema);
    const config = loadConfig(service.configSchema, url === null ? others : { ...others, DATABASE_URL: url });
    const infra = await connectInfra(config as unknown as RuntimeConfig, {
      service: service.serviceName,
      schema,
      shared: { ...shared, rpc: localRpc.as(service.serviceName) },
    });
    undo.push(() => infra.close());
    const parts = await service.buildService(config, infra);
    for (const part of parts.rpc.filter(({ definition }) => !SERVED_BY_ALL.has(definition))) {
      rpcServer.serve(part.definition, part.handlers as never);
      relay.serve(service.serviceName, part.definition);
    }
    entries.push({ parts, infra });
  }
  const rpcPath = await workerSocket(home);
  await rpcServer.listenAt(rpcPath.socket);
  undo.push(async () => {
    await rpcServer.close();
    await rpcPath.remove();
  });
  const running = await startParts(entries, {
    config: runtime,
    localRpc,
    listensHttp: (name) => name === 'gateway',
    checks: processChecks(watched),
  });
  undo.push(() => running.stop());
  for (const { name, handle } of running.services) localHttp.set(name, handle);
  return { running, rpcSocket: rpcPath.socket, relay, broker };
}

/**
 * Opens the certificate files; the gateway's configuration names all of them. @throws ConfigError when they contradict BATON_TLS.
 */
function transportOf(env: NodeJS.ProcessEnv, home: Pick<Home, 'internalKey'>, log: Log): Transport {
  const config = loadConfig(gateway.configSchema, { BATON_INTERNAL_KEY: home.internalKey, ...env });
  // Services call each other inside the process, and embedded servers listen only on loopback for it: those addresses are not
  // checked.
  const own = Object.entries(config).filter(([name]) => !name.startsWith('BATON_HTTP_'));
  const given = { DATABASE_URL: env.DATABASE_URL, AMQP_URL: env.AMQP_URL };
  const problems = transportProblems(
    { ...Object.fromEntries(own), ...given },
    { hasDatabase: true, isEdge: true },
  );
  if (problems.length > 0) throw new ConfigError(problems);
  return openTransport(config, log);
}

function rpcAddresses(socket: string): Record<string, string> {
  const names = ['IDENTITY', 'CATALOG', 'DEPLOYMENTS', 'EXECUTIONS', 'SECRETS', 'CLUSTER_STATUS'];
  return Object.fromEntries(names.map((name) => [`BATON_RPC_${name}`, `unix:${socket}`]));
}

function workerMain(mainDir: string): string {
  return __filename.endsWith('.ts')
    ? join(mainDir, '../../../services/worker/src/main.ts')
    : join(mainDir, '../../services/worker/main.js');
}
