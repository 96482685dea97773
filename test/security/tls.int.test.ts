// BATON_TLS=required from the user to the database: real gateway and identity, and a PostgreSQL and Redis of this test that
// accept only TLS. Every connection is also tried without TLS.

import { mkdtempSync, rmSync } from 'node:fs';
import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { identityRpc } from '@baton/contracts';
import { buildService as buildGateway, configSchema as gatewayConfig } from '@baton/gateway';
import { buildService as buildIdentity, configSchema as identityConfig } from '@baton/identity';
import { Secret, silentLog, systemClock } from '@baton/kernel';
import { runMigrations } from '@baton/postgres';
import { createGrpcConnector } from '@baton/rpc';
import {
  loadConfig,
  openTransport,
  type Running,
  startParts,
  transportProblems,
} from '@baton/service-runtime';
import { connectInfra, type Infra } from '@baton/service-runtime/infra';
import { eventually, restartablePostgres, restartableRedis } from '@baton/testkit';
import { type Authority, createAuthority, writeIssued } from '@baton/tls/authority';
import { derivedTrust, serviceCredential } from '@baton/trust';

const KEY = 'the key of the TLS test';
const nowMs = systemClock.now();
const undo: (() => unknown)[] = [];
let root: string;
let authority: Authority;
let edge: { ca: string; cert: string; key: string };
let identity: { running: Running; infra: Infra<any> };
let gateway: { running: Running; infra: Infra<any> };
let env: Record<string, string>;

async function certificate(folder: string, names: string[], by = authority) {
  return writeIssued(join(root, folder), await by.issue({ names, nowMs }), authority.cert);
}

async function certificateOf(service: string): Promise<Record<string, string>> {
  const { ca, cert, key } = await certificate(service, [service, `${service}.baton.svc`, 'localhost']);
  return { BATON_TLS_CA_FILE: ca, BATON_TLS_CERT_FILE: cert, BATON_TLS_KEY_FILE: key };
}

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'baton-tls-'));
  undo.push(() => rmSync(root, { recursive: true, force: true }));
  authority = await createAuthority('all of it', nowMs);
  const servers = await certificate('servers', ['localhost']);
  const [postgres, redis] = await Promise.all([
    restartablePostgres({ tls: servers }),
    restartableRedis(servers),
  ]);
  undo.push(
    () => postgres.close(),
    () => redis.close(),
  );
  env = {
    BATON_TLS: 'required',
    BATON_INTERNAL_KEY: KEY,
    BATON_ADMIN_PASSWORD: 'admin',
    BATON_HOST: 'localhost',
    BATON_HTTP_PORT: '0',
    BATON_RPC_PORT: '0',
    BATON_LOG_LEVEL: 'silent',
    BATON_BROKER: 'postgres',
    DATABASE_URL: postgres.url.replace('127.0.0.1', 'localhost').replace('no-verify', 'verify-full'),
    REDIS_URL: redis.url.replace('127.0.0.1', 'localhost'),
  };
  identity = await startIdentity();
  edge = await certificate('edge', ['baton.example.org', 'localhost']);
  gateway = await startGateway();
}, 120_000);
afterAll(async () => {
  for (const step of undo.reverse()) await step();
});

async function startIdentity() {
  const config = loadConfig(identityConfig, { ...env, ...(await certificateOf('identity')) });
  expect(transportProblems(config, { hasDatabase: true, isEdge: false })).toEqual([]);
  const transport = openTransport(config, silentLog);
  await runMigrations({
    url: config.DATABASE_URL.expose(),
    trust: transport.servers,
    schema: 'identity',
    dir: join(__dirname, '../../services/identity/migrations'),
    log: silentLog,
  });
  const infra = await connectInfra<any>(config, {
    service: 'identity',
    schema: 'identity',
    log: silentLog,
    shared: { transport },
  });
  const parts = await buildIdentity(config, infra);
  const running = await startParts([{ parts, infra }], { config, hasHeartbeat: false });
  undo.push(
    () => transport.close(),
    () => infra.close(),
    () => running.stop(),
  );
  return { running, infra };
}

async function startGateway() {
  const { httpPort, rpcPort } = identity.running.services[0]!;
  const config = loadConfig(gatewayConfig, {
    ...env,
    ...(await certificateOf('gateway')),
    BATON_HTTPS_CERT_FILE: edge.cert,
    BATON_HTTPS_KEY_FILE: edge.key,
    BATON_RPC_IDENTITY: `localhost:${rpcPort}`,
    ...Object.fromEntries(
      ['IDENTITY', 'CATALOG', 'DEPLOYMENTS', 'EXECUTIONS', 'SECRETS', 'CLUSTER_STATUS'].map((name) => [
        `BATON_HTTP_${name}`,
        `https://localhost:${httpPort}`,
      ]),
    ),
  });
  expect(transportProblems(config, { hasDatabase: false, isEdge: true })).toEqual([]);
  const infra = await connectInfra(config, { service: 'gateway', log: silentLog });
  const parts = buildGateway(config, infra);
  const running = await startParts([{ parts, infra }], { config, hasHeartbeat: false });
  undo.push(
    () => infra.close(),
    () => running.stop(),
  );
  return { running, infra };
}

const portOf = ({ running }: { running: Running }): number => running.services[0]!.httpPort!;

/** Returns the status of an answer. @throws when the connection is refused */
const ask = (port: number, path: string, tls: object | null): Promise<number> =>
  new Promise((resolve, reject) => {
    const options = {
      host: 'localhost',
      port,
      path,
      agent: false as const,
      headers: { authorization: `Basic ${Buffer.from('admin:admin').toString('base64')}` },
    };
    const sent = tls ? tlsRequest({ ...options, ...tls }) : plainRequest(options);
    sent.on('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end();
  });

const issued = (service: string) => authority.issue({ names: [service], nowMs });

test('a user gets through to the database and back', async () => {
  expect(await ask(portOf(gateway), '/api/v3.1/tenants', { ca: authority.cert })).toBe(200);
  const { rows } = await identity.infra.db!.pool.query(
    "select bool_and(ssl) as is_tls from pg_stat_ssl join pg_stat_activity using (pid) where backend_type = 'client backend'",
  );
  expect(rows[0].is_tls).toBe(true);
  await eventually(() => identity.infra.cache.ping(), { deadlineMs: 20_000 });
});

test('no port answers who comes without TLS', async () => {
  for (const port of [portOf(gateway), portOf(identity)])
    await expect(ask(port, '/healthz', null)).rejects.toThrow();
  const connector = createGrpcConnector({
    addresses: { identity: `localhost:${identity.running.services[0]!.rpcPort}` },
    log: silentLog,
    credential: serviceCredential(derivedTrust('gateway', new Secret(KEY)).identity),
  });
  const client = connector.client(identityRpc.IdentityServiceDefinition, 'identity');
  const asked = client.authenticate({} as never, { deadlineMs: 1_500 });
  await expect(asked).rejects.toMatchObject({ code: 'service_unavailable_error' });
  connector.close();
});

test('the HTTP port of a service is for the gateway alone', async () => {
  const port = portOf(identity);
  const ca = authority.cert;
  expect(await ask(port, '/healthz', { ca, ...(await issued('gateway')) })).toBe(200);
  await expect(ask(port, '/healthz', { ca })).rejects.toThrow();
  await expect(ask(port, '/healthz', { ca, ...(await issued('secrets')) })).rejects.toThrow();
  const stranger = await createAuthority('stranger', nowMs);
  const forged = await stranger.issue({ names: ['gateway'], nowMs });
  await expect(ask(port, '/healthz', { ca, ...forged })).rejects.toThrow();
});

test('less than TLS 1.2 is refused', async () => {
  const shake = new Promise((resolve, reject) => {
    const socket = connectTls(
      {
        host: 'localhost',
        port: portOf(gateway),
        ca: authority.cert,
        minVersion: 'TLSv1',
        maxVersion: 'TLSv1.1',
        ciphers: 'DEFAULT@SECLEVEL=0',
      },
      () => resolve(socket.getProtocol()),
    );
    socket.once('error', reject);
  });
  await expect(shake).rejects.toThrow();
});

test('a browser that signs in over TLS gets the cookie that no neighbour of the host can set, and it counts', async () => {
  const send = (method: string, headers: Record<string, string>, body?: object) =>
    new Promise<{ status: number; cookie: string }>((resolve, reject) => {
      const port = portOf(gateway);
      const at = {
        host: 'localhost',
        port,
        path: '/api/v3.1/session',
        ca: authority.cert,
        agent: false as const,
      };
      const own = { origin: `https://localhost:${port}`, 'x-baton-request': '1', ...headers };
      const sent = tlsRequest({ ...at, method, headers: { 'content-type': 'application/json', ...own } });
      sent.on('response', (response) => {
        response.resume();
        resolve({ status: response.statusCode!, cookie: response.headers['set-cookie']?.[0] ?? '' });
      });
      sent.on('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  const admin = { username: 'admin', password: 'admin' };
  const { status, cookie } = await send('POST', {}, admin);
  expect([status, cookie]).toEqual([
    200,
    expect.stringMatching(/^__Host-baton_session=bses-[\w-]+; Path=\/; Secure; HttpOnly; SameSite=Strict$/),
  ]);
  const pair = cookie.split(';', 1)[0]!;
  expect((await send('GET', { cookie: pair })).status).toBe(200);
  expect((await send('GET', { cookie: pair.replace('__Host-', '') })).status).toBe(401);
  const plain = `http://localhost:${portOf(gateway)}`;
  expect((await send('POST', { origin: plain }, admin)).status).toBe(403);
  expect((await send('DELETE', { cookie: pair, origin: plain })).status).toBe(403);
  expect((await send('DELETE', { cookie: pair })).status).toBe(204);
  expect((await send('GET', { cookie: pair })).status).toBe(401);
});

test("the gateway's renewed certificate is shown to new connections; old ones go on", async () => {
  const open = () =>
    new Promise<ReturnType<typeof connectTls>>((resolve, reject) => {
      const socket = connectTls({ host: 'localhost', port: portOf(gateway), ca: authority.cert }, () =>
        resolve(socket),
      );
      socket.once('error', reject);
    });
  const old = await open();
  const before = old.getPeerX509Certificate()!.serialNumber;
  await certificate('edge', ['baton.example.org', 'localhost']);
  expect(gateway.infra.transport!.edge!.refresh()).toBe(true);
  const next = await open();
  expect(next.getPeerX509Certificate()!.serialNumber).not.toBe(before);
  next.destroy();
  const answered = new Promise<string>((resolve) => old.once('data', (bytes) => resolve(bytes.toString())));
  old.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
  expect(await answered).toMatch(/^HTTP\/1\.1 200/);
  old.destroy();
});

test("the gateway's renewed identity goes on reaching the services", async () => {
  await certificateOf('gateway');
  await certificateOf('identity');
  gateway.infra.transport!.inner!.refresh();
  identity.infra.transport!.inner!.refresh();
  expect(await ask(portOf(gateway), '/api/v3.1/tenants', { ca: authority.cert })).toBe(200);
});

test('an unfinished handshake keeps nobody else waiting', async () => {
  const silent = connectPlain(portOf(gateway), 'localhost');
  await new Promise((resolve) => silent.once('connect', resolve));
  expect(await ask(portOf(gateway), '/healthz', { ca: authority.cert })).toBe(200);
  silent.destroy();
});
