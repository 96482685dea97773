import { silentLog } from '@baton/kernel';
import { type TcpProxy, tcpProxy, testUrls } from '@baton/testkit';
import { sql } from 'kysely';
import { createDb, type Db } from './index';

let proxy: TcpProxy;
let db: Db<object>;

beforeEach(async () => {
  const target = new URL(testUrls.postgres());
  proxy = await tcpProxy({ host: target.hostname, port: Number(target.port || 5432) });
  db = createDb({
    url: proxy.through(testUrls.postgres()),
    schema: 'public',
    applicationName: 'test',
    log: silentLog,
    maxConnections: 2,
    silentMs: 300,
    connectTimeoutMs: 500,
  });
});
afterEach(async () => {
  proxy.heal();
  await db.close();
  await proxy.close();
});

const one = () => sql<{ n: number }>`select 1 as n`.execute(db.query).then(({ rows }) => rows[0]?.n);

test('a database behind a dead network is told to the caller, and used again when the network is back', async () => {
  expect(await one()).toBe(1);
  proxy.blackhole();
  await expect(one()).rejects.toMatchObject({ code: 'service_unavailable_error' });
  await expect(db.tx((tx) => sql`select 1`.execute(tx))).rejects.toMatchObject({
    code: 'service_unavailable_error',
  });
  proxy.heal();
  expect(await one()).toBe(1);
}, 30_000);

test('a statement that is only slow is left alone', async () => {
  expect((await sql<{ n: number }>`select 2 as n, pg_sleep(1)`.execute(db.query)).rows[0]?.n).toBe(2);
});
