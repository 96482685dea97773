/** Starts composed services and stops them in reverse; one process may hold one service or all of them. */
import type { Subscription } from '@baton/broker';
import { createHttpApp, type HttpApp } from '@baton/http';
import { type Log, systemClock } from '@baton/kernel';
import { createRpcServer, type LocalRpc, type RpcServer } from '@baton/rpc';
import { defaultPorts } from '../config/ports';
import type { RuntimeConfig } from '../config/runtime-config';
import { type Checks, createHealth, type Health } from '../health/health';
import { type Beating, startHeartbeat } from '../health/heartbeat';
import { createMetrics, type Metrics } from '../health/metrics';
import { createOpsServer, opsPaths, type PlainPaths, publicPaths } from '../health/ops-server';
import { startLoop } from '../loops/loops';
import { guardOf, requireTrust } from '../transport/identity';
import { withPlainPaths } from '../transport/raw-http';
import { edgeTls, innerHttpTls } from '../transport/transport';
import { startDatabaseParts } from './database-parts';
import type { HttpHandle, Infra } from './infra-types';
import type { ServiceParts } from './service-parts';

/** The path for load balancers: without the broker reads still work and messages wait in the outbox (health.ts). */
const TO_BALANCERS = '/readyz?exclude=broker';
/** The stop waits only this long for a scrape under way. */
const OPS_CLOSE_MS = 500;

export interface StartEntry {
  parts: ServiceParts;
  infra: Infra<any>;
}

export interface StartOptions {
  config: RuntimeConfig;
  /** Serve rpc in this process instead of over gRPC. */
  localRpc?: LocalRpc;
  /** False: no HTTP port is opened, requests come through `handle` (standalone opens the gateway's only). */
  listensHttp?: (service: ServiceParts['name']) => boolean;
  hasHeartbeat?: boolean;
  /** Checks of the whole process, besides the checks of its services. */
  checks?: Checks;
}

export interface RunningService {
  name: ServiceParts['name'];
  handle: HttpHandle;
  health: Health;
  httpPort: number | null;
  rpcPort: number | null;
  opsPort: number | null;
}

export interface Running {
  services: RunningService[];
  /** Drains and stops everything; the infras stay open. */
  stop(): Promise<void>;
}

/** Steps of the stop, run in reverse order; every step runs even when an earlier one failed. */
class StopList {
  readonly #steps: { name: string; stop: () => Promise<unknown> | unknown }[] = [];
  constructor(private readonly log: Log) {}
  add(name: string, stop: () => Promise<unknown> | unknown): void {
    this.#steps.unshift({ name, stop });
  }
  async run(): Promise<void> {
    for (const step of this.#steps.splice(0)) {
      const startedMs = systemClock.monotonic();
      try {
        await step.stop();
        this.log.debug(
          { step: step.name, durationMs: Math.round(systemClock.monotonic() - startedMs) },
          'stopped',
        );
      } catch (error) {
        this.log.error({ step: step.name, err: error }, 'stop step failed');
      }
    }
  }
}

/** Settles with `work` or after `limitMs`, whichever comes first. */
async function bounded(work: Promise<unknown>, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function healthOf(
  { parts, infra }: StartEntry,
  checks: Checks,
  others: () => readonly RunningService[],
): Health {
  const database: Checks = infra.db ? { database: () => infra.db!.ping() } : {};
  return createHealth(parts.name, {
    required: { broker: () => infra.broker.ping(), ...database, ...checks, ...parts.checks },
    optional: { cache: () => infra.cache.ping() },
    others,
  });
}

async function startRpc(
  entry: StartEntry,
  o: StartOptions,
  { metrics, health }: { metrics: Metrics; health: Health },
  stops: StopList,
): Promise<number | null> {
  const { parts, infra } = entry;
  const { localRpc, config } = o;
  if (localRpc) {
    for (const part of parts.rpc) localRpc.serve(parts.name, part.definition, part.handlers as never);
    stops.add('local rpc', () => localRpc.withdraw(parts.name));
    return null;
  }
  if (parts.rpc.length === 0) return null;
  const server: RpcServer = createRpcServer({
    log: infra.log,
    guard: guardOf(config, requireTrust(infra), [parts.name]),
    observe: metrics.rpc,
    tls: infra.transport?.inner ?? undefined,
    isReady: async () => (await health.readyz(TO_BALANCERS)).status === 200,
  });
  for (const part of parts.rpc) server.serve(part.definition, part.handlers as never);
  const port = await server.listen(config.BATON_HOST, config.BATON_RPC_PORT ?? defaultPorts[parts.name].rpc);
  stops.add('rpc server', () => server.close(config.BATON_DRAIN));
  return port;
}

/** For a worker, which has no routes. */
const trustingNobody = { bundle: { keyOf: () => null } };

function httpAppOf(
  { parts, infra }: StartEntry,
  config: RuntimeConfig,
  health: Health,
  metrics: Metrics,
): HttpApp {
  if (parts.rawHandler)
    return withPlainPaths(parts.rawHandler, publicPaths(health), infra.log, {
      tls: edgeTls(infra.transport),
      door: parts.sideDoor,
    });
  const { '/metrics': scraped, ...others } = opsPaths(health, metrics);
  const plain = config.BATON_OPS_PORT === undefined ? { ...others, '/metrics': scraped! } : others;
  return createHttpApp({
    service: parts.name,
    routes: parts.routes,
    trust: infra.trust ?? trustingNobody,
    log: infra.log,
    wire: config.BATON_WIRE,
    plain,
    validateResponses: config.BATON_VALIDATE_RESPONSES,
    observe: metrics.http,
    tls: innerHttpTls(infra.transport),
  });
}

/** Starts the ops server. It is opened first and closed last, so that it can report a start or stop that takes long. */
async function startOps(
  { parts, infra }: StartEntry,
  o: StartOptions,
  paths: PlainPaths,
  stops: StopList,
): Promise<number | null> {
  const { BATON_HOST: host, BATON_OPS_PORT: port } = o.config;
  if (port === undefined || !(o.listensHttp?.(parts.name) ?? true)) return null;
  const server = createOpsServer(paths, infra.log, infra.transport);
  stops.add('ops server', () => bounded(server.close(), OPS_CLOSE_MS));
  return await server.listen(host, port);
}

async function startConsumers({ parts, infra }: StartEntry, stops: StopList): Promise<void> {
  const open: Subscription[] = [];
  stops.add('consumers', () => Promise.all(open.map((s) => s.close())));
  for (const { message, handler, onGap } of parts.subscriptions)
    open.push(await infra.broker.subscribe(message, handler, onGap));
  for (const { message, ...rest } of parts.consumers) open.push(await infra.broker.consume(message, rest));
}

/** Returns the function that stops them. */
function startLoops({ parts, infra }: StartEntry, metrics: Metrics): () => Promise<unknown> {
  const loops = parts.loops.map((loop) => startLoop(loop, { log: infra.log, observe: metrics.loop }));
  return () => Promise.all(loops.map((loop) => loop.stop()));
}

async function startService(
  entry: StartEntry,
  o: StartOptions,
  isFirst: boolean,
  stops: StopList,
  started: readonly RunningService[],
): Promise<RunningService> {
  const { parts, infra } = entry;
  const { config } = o;
  const metrics = createMetrics(parts.name, { registry: infra.metrics, hasProcess: isFirst });
  const health = healthOf(entry, isFirst ? (o.checks ?? {}) : {}, () =>
    started.filter(({ name }) => name !== parts.name),
  );
  const opsPort = await startOps(entry, o, opsPaths(health, metrics), stops);
  if (infra.db) stops.add('database parts', startDatabaseParts(infra, metrics));
  if (parts.stop) stops.add('own resources', () => parts.stop!());
  await infra.db?.requireRowSecurity();
  await parts.start?.();
  const rpcPort = await startRpc(entry, o, { metrics, health }, stops);
  const app = httpAppOf(entry, config, health, metrics);
  stops.add('http', () => bounded(app.close(), config.BATON_DRAIN));
  parts.sideDoor?.serve(app.handle);
  if (parts.sideDoor) stops.add('side door', () => bounded(parts.sideDoor!.close(), config.BATON_DRAIN));
  infra.localHttp?.set(parts.name, app.handle);
  const listens = o.listensHttp?.(parts.name) ?? true;
  const httpPort = listens
    ? await app.listen(config.BATON_HOST, config.BATON_HTTP_PORT ?? defaultPorts[parts.name].http)
    : null;
  // Before the consumers, which wait for the broker: what loops do is needed without it, too.
  const stopLoops = startLoops(entry, metrics);
  // They stop before the consumers as well.
  await startConsumers(entry, stops).finally(() => stops.add('loops', stopLoops));
  infra.log.info({ httpPort, rpcPort, opsPort }, 'started');
  return { name: parts.name, handle: app.handle, health, httpPort, rpcPort, opsPort };
}

/** Starts one heartbeat for all services of the process, when each of them answers. */
function startHeartbeatOf(
  entries: readonly StartEntry[],
  services: readonly RunningService[],
  stops: StopList,
): void {
  const [first, ...others] = entries.map(
    ({ parts, infra }, i): Beating => ({
      service: parts.name,
      instanceId: infra.instanceId,
      health: services[i]!.health,
      onMaintenance: parts.onMaintenance,
      onConfig: parts.onConfig,
      actsBy: parts.actsBy,
    }),
  );
  const { rpc, log } = entries[0]!.infra;
  const heartbeat = startHeartbeat({ services: [first!, ...others], rpc, log });
  stops.add('heartbeat', () => heartbeat.stop());
}

/**
 * Starts each service in the given order: its resources, outbox relay, rpc, HTTP, consumers, loops. Then starts the heartbeat of
 * all, and all are ready. `stop`: not ready, a pause for load balancers, then everything in reverse.
 * @throws the error of the first failed step, after undoing the others.
 */
export async function startParts(entries: readonly StartEntry[], o: StartOptions): Promise<Running> {
  const first = entries[0];
  if (!first) throw new Error('no service to start');
  const stops = new StopList(first.infra.log);
  const services: RunningService[] = [];
  try {
    for (const entry of entries)
      services.push(await startService(entry, o, entry === first, stops, services));
    if (o.hasHeartbeat !== false) startHeartbeatOf(entries, services, stops);
  } catch (error) {
    await stops.run();
    throw error;
  }
  for (const service of services) service.health.setStage('ready');
  return {
    services,
    async stop() {
      for (const service of services) service.health.setStage('stopping');
      if (o.config.BATON_UNREADY > 0)
        await new Promise((resolve) => setTimeout(resolve, o.config.BATON_UNREADY));
      await stops.run();
    },
  };
}
