/** Gateways in front of the real identity service and a small test service with a route of every kind. */
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Broker } from '@baton/broker';
import {
  type ApiVersion,
  buildMessage,
  defineRoutes,
  executionsRpc,
  type MessageType,
  type RouteContract,
} from '@baton/contracts';
import { allRoutes } from '@baton/contracts/http/all';
import { ownUserRoutes } from '@baton/contracts/http/own-user';
import { permissionsRoutes } from '@baton/contracts/http/permissions';
import { sessionRoutes } from '@baton/contracts/http/session';
import { tenantsRoutes } from '@baton/contracts/http/tenants';
import { tokensRoutes } from '@baton/contracts/http/tokens';
import { usersRoutes } from '@baton/contracts/http/users';
import { buildService as buildGateway, configSchema as gatewayConfig } from '@baton/gateway';
import {
  answer,
  bindRoutes,
  createHttpApp,
  type HttpApp,
  type HttpCall,
  listEnvelope,
  rawEnvelope,
} from '@baton/http';
import {
  buildService as buildIdentity,
  createSignInCode,
  configSchema as identityConfig,
} from '@baton/identity';
import { AppError, isoInstant, RawJson, Secret, silentLog, systemClock } from '@baton/kernel';
import { createGuardedPassage, createLocalRpc, type LocalRpc } from '@baton/rpc';
import {
  createLocalHttp,
  guardOf,
  type LocalHttp,
  loadConfig,
  type Running,
  type ServiceParts,
  sealsOfAll,
  startParts,
} from '@baton/service-runtime';
import { connectBroker, connectInfra } from '@baton/service-runtime/infra';
import { type TestDatabase, testDatabase, testNamespace, testUrls } from '@baton/testkit';
import { derivedTrust } from '@baton/trust';
import { z } from 'zod';

export const KEY = 'the key of the gateway tests';
const versions: readonly ApiVersion[] = ['v2.1', 'v3.1'];
const base = {
  owner: 'catalog',
  tenant: 'required',
  versions,
  summary: '',
  spec: 'test',
  status: 200,
  response: z.any(),
} as const;

/** One route of each kind. */
const testRoutes = defineRoutes([
  {
    ...base,
    id: 'listThings',
    method: 'GET',
    path: '/things',
    permission: 'site_list',
    list: {
      fields: ['id'],
      filters: ['id', 'tenant_name'],
      sorts: ['id'],
      defaultSort: [],
      allowsAllTenants: true,
      allowsGetAll: true,
    },
  },
  {
    ...base,
    id: 'createThing',
    method: 'PUT',
    path: '/things/:id',
    permission: 'site_create',
    body: z.looseObject({}),
    isBodyOptional: true,
  },
  {
    ...base,
    id: 'listBig',
    method: 'GET',
    path: '/big',
    permission: 'site_list',
    list: {
      fields: ['id'],
      filters: ['id'],
      sorts: ['id'],
      defaultSort: [],
      allowsAllTenants: false,
      allowsGetAll: false,
    },
  },
  { ...base, id: 'whoAmI', method: 'GET', path: '/who', permission: 'login', tenant: 'optional' },
  { ...base, id: 'open', method: 'GET', path: '/open', permission: 'none', tenant: 'none' },
  {
    ...base,
    id: 'upload',
    method: 'PUT',
    path: '/uploads/:id',
    permission: 'site_create',
    rawBody: 'archive',
  },
  { ...base, id: 'hang', method: 'GET', path: '/hang', permission: 'site_list' },
  { ...base, id: 'watch', method: 'GET', path: '/watch', permission: 'site_list', responseKind: 'events' },
  {
    ...base,
    id: 'work',
    method: 'POST',
    path: '/work',
    permission: 'user_create',
    isAllowedToExecution: true,
    isRefusedWhileCancelling: true,
  },
]);
/** Only the gateway knows this route: tests check only in which API versions it exists. */
const eventsRoute: RouteContract = {
  ...base,
  id: 'listEvents',
  method: 'GET',
  path: '/events',
  permission: 'login',
};
const routes: readonly RouteContract[] = [
  eventsRoute,
  ...testRoutes,
  ...usersRoutes,
  ...tenantsRoutes,
  ...tokensRoutes,
  ...permissionsRoutes,
  ...sessionRoutes,
  ...ownUserRoutes,
];

interface ExecutionOfToken {
  executionId: string;
  tenant: string;
  createdBy: string;
  status?: string;
  isAgent?: boolean;
  instances?: string[];
  deploymentId?: string;
  blueprintId?: string;
}

export interface World {
  gateways: string[];
  /** Address of the first gateway's ops port. */
  ops: string;
  /** Sets the maintenance state that cluster-status reports to gateway `at`. */
  setMaintenance(at: number, state: string): void;
  /** Requests that the test service saw. */
  seen: { uploads: number[]; aborted: number; hanging: number; requests: number };
  executions: Map<string, ExecutionOfToken>;
  catalog: { stop(): Promise<void>; start(): Promise<void> };
  call(method: string, path: string, o?: CallOptions): Promise<Called>;
  /** Runs a statement in the database of identity. */
  sql(text: string, values?: unknown[]): Promise<Record<string, string>[]>;
  /** Returns the code that a standalone prints in its sign-in link. */
  signInCode(): Promise<string>;
  /** Sends these bytes to the first gateway and closes; returns the received bytes. */
  send(text: string): Promise<string>;
  /** Publishes a message of executions. */
  publish<T>(message: MessageType<T>, payload: T): Promise<void>;
  /** Stops gateway `at` alone. */
  stopGateway(at: number): Promise<void>;
  stop(): Promise<void>;
}

export interface CallOptions {
  /** user:password; absent: no credentials. */
  as?: string;
  tenant?: string;
  headers?: Record<string, string>;
  body?: unknown;
  /** Index of the gateway; default: the first. */
  at?: number;
  api?: string;
}
export interface Called {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  body: any;
}

interface Parts {
  infra: Awaited<ReturnType<typeof connectInfra>>;
  running: Running;
  parts: ServiceParts;
}

/** Starts the world. `isLocal`: the services are called within the process, as in standalone. */
export async function startWorld(
  o: {
    gateways?: number;
    isLocal?: boolean;
    env?: Record<string, string>;
    /** The gateway knows the routes of the product; of its services only identity is running. */
    allRoutes?: boolean;
    /** Serves more, in place of the usual ones. */
    serve?: (rpc: LocalRpc) => void;
  } = {},
): Promise<World> {
  const database = await testDatabase({
    migrations: [{ schema: 'identity', dir: join(__dirname, '../../services/identity/migrations') }],
  });
  const env = envOf(database, o.env ?? {});
  const rpc = createLocalRpc();
  const localHttp = o.isLocal ? createLocalHttp() : undefined;
  const seen = { uploads: [] as number[], aborted: 0, hanging: 0, requests: 0 };
  const executions: World['executions'] = new Map();
  rpc.serve('executions', executionsRpc.ExecutionsServiceDefinition, executionsStub(executions) as never);
  o.serve?.(rpc);
  const identity = await startIdentity(env, rpc, localHttp);
  const catalog = await startCatalog(seen, localHttp);
  const origins = {
    BATON_HTTP_IDENTITY: `http://127.0.0.1:${identity.running.services[0]!.httpPort}`,
    BATON_HTTP_CATALOG: `http://127.0.0.1:${catalog.port()}`,
  };
  const edges: Parts[] = [];
  for (let i = 0; i < (o.gateways ?? 1); i++)
    edges.push(await startGateway({ ...env, ...origins }, rpc, localHttp, o.allRoutes ? allRoutes : routes));
  const gateways = edges.map(({ running }) => `http://127.0.0.1:${running.services[0]!.httpPort}`);
  let broker: Broker | null = null;
  const stop = async (): Promise<void> => {
    await broker?.close();
    for (const { running, infra } of [...edges, identity]) {
      await running.stop();
      await infra.close();
    }
    await catalog.stop();
    await database.drop();
  };
  return {
    gateways,
    ops: `http://127.0.0.1:${edges[0]!.running.services[0]!.opsPort}`,
    seen,
    executions,
    catalog,
    stop,
    publish: async (message, payload) => {
      broker ??= brokerOfExecutions(env);
      const time = isoInstant(systemClock.now());
      await broker.publish([buildMessage(message, { tenant: 't', key: 'k', time }, payload)]);
    },
    stopGateway: (at) => edges[at]!.running.stop(),
    sql: async (text, values = []) => (await identity.infra.db!.pool.query(text, values)).rows,
    signInCode: async () => (await createSignInCode(identity.infra.db as never))!.expose(),
    setMaintenance: (at, state) => edges[at]!.parts.onMaintenance?.(state),
    call: (method, path, options = {}) => callApi(gateways[options.at ?? 0]!, method, path, options),
    send: (text) => sendBytes(gateways[0]!, text),
  };
}

function envOf(database: TestDatabase, more: Record<string, string>): Record<string, string> {
  return {
    BATON_INTERNAL_KEY: KEY,
    BATON_ADMIN_PASSWORD: 'admin',
    BATON_HTTP_PORT: '0',
    BATON_RPC_PORT: '0',
    BATON_OPS_PORT: '0',
    BATON_LOG_LEVEL: 'silent',
    DATABASE_URL: database.url,
    AMQP_URL: testUrls.amqp(),
    BATON_NAMESPACE: testNamespace(),
    ...more,
  };
}

/** The broker as executions has it. */
function brokerOfExecutions(env: Record<string, string>): Broker {
  const config = loadConfig(identityConfig, env);
  return connectBroker(config, silentLog, { service: 'executions', seals: sealsOfAll(config) });
}

function executionsStub(executions: World['executions']) {
  return {
    resolveExecutionToken: async ({ token }: { token: string }) => {
      const execution = executions.get(token);
      if (!execution) throw new AppError('unauthorized_error', 'no such execution');
      return {
        deploymentId: '',
        blueprintId: '',
        isAgent: false,
        instances: [],
        status: 'started',
        ...execution,
      };
    },
  };
}

async function startIdentity(
  env: Record<string, string>,
  rpc: LocalRpc,
  localHttp: LocalHttp | undefined,
): Promise<Parts> {
  const config = loadConfig(identityConfig, env);
  const infra = await connectInfra(config, {
    service: 'identity',
    schema: 'identity',
    log: silentLog,
    shared: { rpc, localHttp },
  });
  const parts = buildIdentity(config, infra);
  const running = await startParts([{ parts, infra }], { config, localRpc: rpc, hasHeartbeat: false });
  return { infra, running, parts };
}

/** As in the standalone: calls of agents are checked as those that come over a network. */
function passageOf(config: Parameters<typeof guardOf>[0], rpc: LocalRpc) {
  const { bundle } = derivedTrust('executions', new Secret(KEY));
  const guard = guardOf(config, { bundle }, ['executions', 'deployments', 'catalog']);
  return createGuardedPassage(rpc, { guard, log: silentLog });
}

async function startGateway(
  env: Record<string, string>,
  rpc: LocalRpc,
  localHttp: LocalHttp | undefined,
  known: readonly RouteContract[],
): Promise<Parts> {
  const config = loadConfig(gatewayConfig, env);
  const infra = await connectInfra(config, {
    service: 'gateway',
    log: silentLog,
    shared: { rpc, localHttp, passage: passageOf(config, rpc) },
  });
  const parts = buildGateway(config, infra, { routes: known });
  const running = await startParts([{ parts, infra }], { config, localRpc: rpc, hasHeartbeat: false });
  return { infra, running, parts };
}

async function startCatalog(seen: World['seen'], localHttp: LocalHttp | undefined) {
  let app: HttpApp | undefined;
  let port = 0;
  const start = async (): Promise<void> => {
    app = createHttpApp({
      service: 'catalog',
      routes: catalogRoutes(seen),
      trust: derivedTrust('catalog', new Secret(KEY)),
      log: silentLog,
      wire: 'spec',
      observe: () => {
        seen.requests += 1;
      },
    });
    port = await app.listen('127.0.0.1', port);
    localHttp?.set('catalog', app.handle);
  };
  await start();
  return { start, port: () => port, stop: async () => void (await app?.close()) };
}

/** 1.4 MB in chunks, like lists of blueprints: more than a socket takes at once. */
export const BIG_ITEMS = 14;
const bigItem = new RawJson(Buffer.from(JSON.stringify({ id: 'x'.repeat(100_000) })));
const bigList = new RawJson([
  '[',
  ...Array.from({ length: BIG_ITEMS }, (_, i) => (i === 0 ? [bigItem] : [',', bigItem])).flat(),
  ']',
]);

function catalogRoutes(seen: World['seen']) {
  const about = ({ principal, headers, version }: HttpCall) => ({ principal, headers, version });
  return bindRoutes(testRoutes, {
    listThings: (call) =>
      listEnvelope({ items: [{ id: call.principal.tenant, ...about(call) }], total: 1 }, call.list),
    listBig: (call) => rawEnvelope({ items: bigList, total: BIG_ITEMS }, call.list),
    createThing: about,
    whoAmI: about,
    open: about,
    work: about,
    upload: async (call) => {
      let bytes = 0;
      for await (const chunk of call.raw) bytes += chunk.length;
      seen.uploads.push(bytes);
      return { bytes };
    },
    hang: (call) =>
      new Promise((resolve) => {
        seen.hanging += 1;
        call.signal.addEventListener('abort', () => {
          seen.aborted += 1;
          resolve({});
        });
      }),
    watch: () => answer({ stream: ticks() }),
  });
}

async function* ticks() {
  yield { id: '1', data: { n: 1 } };
  // Stays open until the client goes away.
  await new Promise<never>(() => undefined);
}

async function sendBytes(gateway: string, text: string): Promise<string> {
  const { hostname, port } = new URL(gateway);
  const socket = connect(Number(port), hostname);
  socket.end(text);
  let answer = '';
  for await (const chunk of socket) answer += chunk;
  return answer;
}

async function callApi(origin: string, method: string, path: string, o: CallOptions): Promise<Called> {
  const headers: Record<string, string> = { ...o.headers };
  if (o.as !== undefined) headers.authorization = `Basic ${Buffer.from(o.as).toString('base64')}`;
  if (o.tenant !== undefined) headers.tenant = o.tenant;
  if (o.body !== undefined) headers['content-type'] = 'application/json';
  const body = o.body === undefined ? undefined : JSON.stringify(o.body);
  const response = await fetch(`${origin}${o.api ?? '/api/v3.1'}${path}`, { method, headers, body });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true && text !== '';
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : null };
}
