/** Private PostgreSQL, RabbitMQ and Redis that accept only TLS: which servers we accept, and which we refuse. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog, systemClock } from '@baton/kernel';
import { eventually, restartablePostgres, restartableRabbit, restartableRedis } from '@baton/testkit';
import { type Authority, createAuthority, writeIssued } from '@baton/tls/authority';
import { loadConfig, runtimeConfig } from '..';
import { connectInfra, type Infra } from '../lifecycle/infra';

const nowMs = systemClock.now();
const undo: (() => unknown)[] = [];
let root: string;
let authority: Authority;
let servers: { postgres: string; rabbit: string; redis: string };

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'servers-tls-'));
  undo.push(() => rmSync(root, { recursive: true, force: true }));
  authority = await createAuthority('servers', nowMs);
  // Not issued for 127.0.0.1: with that address the host name is wrong.
  const tls = writeIssued(
    join(root, 'server'),
    await authority.issue({ names: ['localhost'], nowMs }),
    authority.cert,
  );
  const started = await Promise.all([
    restartablePostgres({ tls }),
    restartableRabbit(tls),
    restartableRedis(tls),
  ]);
  for (const server of started) undo.push(() => server.close());
  const [postgres, rabbit, redis] = started;
  const atLocalhost = (url: string): string => url.replace('127.0.0.1', 'localhost');
  servers = {
    postgres: atLocalhost(postgres.url).replace('no-verify', 'verify-full'),
    rabbit: atLocalhost(rabbit.url),
    redis: atLocalhost(redis.url),
  };
}, 120_000);
afterAll(async () => {
  for (const step of undo.reverse()) await step();
});

async function connected(
  name: string,
  ca: string,
  urls = servers,
): Promise<{ infra: Infra; caFile: string }> {
  const caFile = join(root, `${name}.crt`);
  writeFileSync(caFile, ca);
  const config = loadConfig(runtimeConfig, {
    BATON_INTERNAL_KEY: 'sixteen characters',
    BATON_NAMESPACE: name,
    BATON_SERVERS_CA_FILE: caFile,
    DATABASE_URL: urls.postgres,
    AMQP_URL: urls.rabbit,
    REDIS_URL: urls.redis,
  });
  const infra = await connectInfra(config, { service: 'secrets', schema: 'secrets', log: silentLog });
  undo.push(() => infra.close());
  return { infra, caFile };
}

test('servers of our authority and of the right name are talked to', async () => {
  const { infra } = await connected('right', authority.cert);
  const rows = await infra.db!.pool.query('select version from pg_stat_ssl where pid = pg_backend_pid()');
  expect(rows.rows[0].version).toBe('TLSv1.3');
  await eventually(() => infra.broker.ping(), { deadlineMs: 20_000 });
  await eventually(() => infra.cache.ping(), { deadlineMs: 20_000 });
  await infra.cache.set('key', 'value', 10_000);
  expect(await infra.cache.get('key')).toBe('value');
});

async function expectRefused(infra: Infra, database: RegExp): Promise<void> {
  await expect(infra.db!.ping()).rejects.toThrow(database);
  await expect(infra.broker.ping()).rejects.toThrow();
  await expect(infra.cache.ping()).rejects.toThrow();
}

test('servers of another authority are not', async () => {
  const { infra } = await connected('stranger', (await createAuthority('stranger', nowMs)).cert);
  await expectRefused(infra, /certificate/);
});

test('servers of another name are not', async () => {
  const elsewhere = Object.fromEntries(
    Object.entries(servers).map(([name, url]) => [name, url.replace('localhost', '127.0.0.1')]),
  ) as typeof servers;
  const { infra } = await connected('elsewhere', authority.cert, elsewhere);
  await expectRefused(infra, /altnames/);
});

test('a server refuses us without TLS', async () => {
  const plain = {
    postgres: servers.postgres.replace('?sslmode=verify-full', ''),
    rabbit: servers.rabbit.replace('amqps:', 'amqp:'),
    redis: servers.redis.replace('rediss:', 'redis:'),
  };
  const { infra } = await connected('plain', authority.cert, plain);
  await expectRefused(infra, /pg_hba\.conf/);
});

test('a renewed authority counts without a restart', async () => {
  const { infra, caFile } = await connected('late', (await createAuthority('late', nowMs)).cert);
  await expectRefused(infra, /certificate/);
  writeFileSync(caFile, authority.cert);
  expect(infra.transport!.servers!.refresh()).toBe(true);
  await eventually(() => infra.db!.ping(), { deadlineMs: 20_000 });
  await eventually(() => infra.broker.ping(), { deadlineMs: 20_000 });
  await eventually(() => infra.cache.ping(), { deadlineMs: 20_000 });
});
