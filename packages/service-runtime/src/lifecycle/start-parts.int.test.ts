import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { changeMade, clusterStatusRpc, defineRoutes } from '@baton/contracts';
import { answer, bindRoutes } from '@baton/http';
import { Secret, silentLog } from '@baton/kernel';
import { outbox, runMigrations } from '@baton/postgres';
import { createLocalRpc } from '@baton/rpc';
import { eventually, type TestDatabase, testDatabase, testNamespace, testUrls } from '@baton/testkit';
import {
  type Infra,
  loadConfig,
  type RuntimeConfig,
  requireDb,
  rpcPart,
  runtimeConfig,
  type ServiceParts,
  startParts,
  waitForSchema,
} from '..';
import { connectInfra } from './infra';

const ddl = `create table outbox (id uuid primary key, envelope jsonb not null, created_at timestamptz not null default app_now());
create table inbox (consumer text not null, message_id uuid not null, received_at timestamptz not null default app_now(), primary key (consumer, message_id));`;
/** One method is enough here, whatever methods the service gets later. */
const ClusterStatusServiceDefinition = {
  ...clusterStatusRpc.ClusterStatusServiceDefinition,
  methods: { report: clusterStatusRpc.ClusterStatusServiceDefinition.methods.report },
} as const;

let database: TestDatabase;
let dir: string;
let config: RuntimeConfig;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'migrations-'));
  await writeFile(join(dir, '0001_parts.sql'), ddl);
  database = await testDatabase({ migrations: [{ schema: 'secrets', dir }] });
  config = loadConfig(runtimeConfig, {
    BATON_INTERNAL_KEY: 'the key of this test',
    BATON_HTTP_PORT: '0',
    BATON_RPC_PORT: '0',
    BATON_NAMESPACE: testNamespace(),
    DATABASE_URL: database.url,
    AMQP_URL: testUrls.amqp(),
    REDIS_URL: testUrls.redis(),
    BATON_BLOBS: dir,
  });
});
const infras: Infra[] = [];
async function infraOf(schema: string, shared?: Partial<Infra>, of = config): Promise<Infra> {
  const infra = await connectInfra(of, { service: 'secrets', schema, log: silentLog, shared });
  infras.push(infra);
  return infra;
}
afterAll(async () => {
  for (const infra of infras) await infra.close();
  await database.drop();
});

const route = {
  owner: 'secrets',
  permission: 'none',
  tenant: 'none',
  versions: ['v3.1'],
  summary: '',
  spec: '',
  status: 200,
  method: 'GET',
} as const;
const routes = defineRoutes([
  { ...route, id: 'slow', path: '/slow' },
  { ...route, id: 'tell', path: '/tell' },
  { ...route, id: 'watch', path: '/watch', responseKind: 'events' },
]);

function partsOf(infra: Infra, seen: string[], release: Promise<void>): ServiceParts {
  const db = requireDb(infra);
  const change = {
    refTable: 'secrets',
    refId: 's1',
    refIdentifier: {},
    operation: 'create' as const,
    username: 'u',
    executionId: 'e1',
    requestId: 'r1',
    route: 'tell',
  };
  return {
    name: 'secrets',
    routes: bindRoutes(routes, {
      slow: async () => {
        seen.push('slow begun');
        await release;
        return { done: true };
      },
      tell: async () => {
        await db.tx((tx) => outbox.append(tx, changeMade, { tenant: 't', key: 'e1' }, change));
        return {};
      },
      watch: async (call) =>
        answer({
          stream: (async function* () {
            yield { data: 1 };
            await new Promise((resolve) => call.signal.addEventListener('abort', resolve));
          })(),
        }),
    }),
    rpc: [
      rpcPart(ClusterStatusServiceDefinition, {
        report: async (r) => ({ maintenance: `for ${r.service}` }),
      }),
    ],
    consumers: [
      {
        message: changeMade,
        queue: 'runtime-test',
        prefetch: 4,
        handler: async (e) => void seen.push(`got ${e.payload.executionId}`),
      },
    ],
    subscriptions: [],
    loops: [
      {
        name: 'beat',
        intervalMs: 20,
        tickOnce: async () => void (seen.includes('beat') || seen.push('beat')),
      },
    ],
    checks: { own: async () => undefined },
    start: async () => void seen.push('start'),
    stop: async () => void seen.push('stop'),
  };
}

test('a service starts, works through every part, drains and stops', async () => {
  const infra = await infraOf('secrets');
  const seen: string[] = [];
  let release!: () => void;
  const parts = partsOf(
    infra,
    seen,
    new Promise((resolve) => {
      release = resolve;
    }),
  );
  const running = await startParts([{ parts, infra }], { config, hasHeartbeat: false });
  const { httpPort, rpcPort } = running.services[0]!;
  const url = `http://127.0.0.1:${httpPort}`;
  expect(rpcPort).toBeGreaterThan(0);
  expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({
    status: 'ready',
    checks: { database: { ok: true }, broker: { ok: true }, own: { ok: true } },
  });

  await fetch(`${url}/api/v3.1/tell`);
  await eventually(() => expect(seen).toEqual(expect.arrayContaining(['got e1', 'beat'])));
  const metricsText = async (): Promise<string> => await (await fetch(`${url}/metrics`)).text();
  const metrics = await metricsText();
  expect(metrics).toMatch(
    /baton_http_seconds_count\{service="secrets",route="tell",method="GET",status="200"\} 1/,
  );
  expect(metrics).toMatch(/baton_event_loop_utilization\{service="secrets"\} 0\.\d/);
  // Rows of sent messages are deleted a moment later.
  await eventually(async () =>
    expect(await metricsText()).toMatch(/baton_outbox_depth\{service="secrets"\} 0/),
  );

  const slow = fetch(`${url}/api/v3.1/slow`);
  const watched = await fetch(`${url}/api/v3.1/watch`);
  await eventually(() => expect(seen).toContain('slow begun'));
  const stopping = running.stop();
  expect((await running.services[0]!.health.readyz()).status).toBe(503);
  await watched.text();
  release();
  expect(await (await slow).json()).toEqual({ done: true });
  await stopping;
  expect(seen.at(-1)).toBe('stop');
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
}, 30_000);

test('with a port for operators the HTTP port keeps its health and gives its metrics away', async () => {
  const infra = await infraOf('secrets');
  const parts = { ...partsOf(infra, [], Promise.resolve()), consumers: [] };
  const running = await startParts([{ parts, infra }], {
    config: { ...config, BATON_OPS_PORT: 0 },
    hasHeartbeat: false,
  });
  const { httpPort, opsPort } = running.services[0]!;
  const status = async (port: number | null, path: string): Promise<number> =>
    (await fetch(`http://127.0.0.1:${port}${path}`)).status;
  for (const path of ['/healthz', '/readyz', '/metrics']) expect(await status(opsPort, path)).toBe(200);
  expect(await status(opsPort, '/api/v3.1/tell')).toBe(404);
  expect(await status(httpPort, '/readyz')).toBe(200);
  expect(await status(httpPort, '/metrics')).toBe(404);
  await running.stop();
  await expect(status(opsPort, '/healthz')).rejects.toThrow();
}, 30_000);

test('loops run while the broker takes connections and never answers', async () => {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => void sockets.add(socket)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const url = new Secret(`amqp://127.0.0.1:${port}`);
  const infra = await infraOf('secrets', {}, { ...config, AMQP_URL: url });
  const seen: string[] = [];
  const parts = partsOf(infra, seen, Promise.resolve());
  let isStarted = false;
  const starting = startParts([{ parts, infra }], { config, hasHeartbeat: false }).finally(() => {
    isStarted = true;
  });
  await eventually(() => expect(seen).toContain('beat'));
  expect(isStarted).toBe(false);
  await infra.broker.close();
  for (const socket of sockets) socket.destroy();
  silent.close();
  await (await starting).stop();
}, 30_000);

test('several services in one process: local rpc, HTTP without ports', async () => {
  const rpc = createLocalRpc();
  const infra = await infraOf('secrets', { rpc });
  const parts = { ...partsOf(infra, [], Promise.resolve()), consumers: [], name: 'cluster-status' as const };
  const running = await startParts([{ parts, infra }], { config, localRpc: rpc, listensHttp: () => false });
  expect(running.services[0]).toMatchObject({ httpPort: null, rpcPort: null });
  expect(await rpc.client(ClusterStatusServiceDefinition, 'cluster-status').report({ service: 'x' })).toEqual(
    { maintenance: 'for x' },
  );
  await running.stop();
}, 30_000);

test('a failing start undoes what was started', async () => {
  const infra = await infraOf('secrets');
  const seen: string[] = [];
  const parts = { ...partsOf(infra, seen, Promise.resolve()), consumers: [] };
  const broken = {
    ...parts,
    start: async () => {
      throw new Error('no disk');
    },
  };
  await expect(startParts([{ parts: broken, infra }], { config })).rejects.toThrow('no disk');
  expect(seen).toEqual(['stop']);
});

test('a service waits for its schema and says what is missing', async () => {
  const infra = await infraOf('later');
  const wait = (limitMs: number) =>
    waitForSchema(requireDb(infra), { schema: 'later', dir, limitMs, log: silentLog, pollMs: 20 });
  await expect(wait(50)).rejects.toThrow(/schema later is not ready/);
  const waiting = wait(10_000);
  await runMigrations({ url: database.url, schema: 'later', dir, log: silentLog });
  await waiting;
});
