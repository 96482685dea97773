// S29: every change by a request is one row of the audit log, under the right user, even when many requests change at once.
// Refused or failed requests leave no row. The hash chain reveals tampering.

import { type TestDatabase, testDatabase } from '@baton/testkit';
import { eventually } from '@baton/testkit/eventually';
import pg from 'pg';
import { firstBreak } from '../../services/cluster-status/src/domain/audit-chain';
import { type Fleet, startFleet } from '../harness/fleet';

const USERS = 5;
const EACH = 20;
let fleet: Fleet;
let database: TestDatabase;

// biome-ignore lint/suspicious/noExplicitAny: answers of several routes.
type Any = any;
async function send(method: string, path: string, body?: object, user = `admin:${fleet.adminPassword}`) {
  const headers: Record<string, string> = {
    authorization: `Basic ${Buffer.from(user).toString('base64')}`,
    tenant: 'default_tenant',
  };
  if (body !== undefined) headers['content-type'] = 'application/json';
  const response = await fetch(`${fleet.baseUrl}/api/v3.1${path}`, {
    method,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, body: (text === '' ? null : JSON.parse(text)) as Any };
}

/** Returns the log once it holds `count` matching rows; rows arrive after the change, by message. */
async function untilLogged(query: string, count: number): Promise<Any[]> {
  let items: Any[] = [];
  const isLogged = async (): Promise<boolean> => {
    items = (await send('GET', `/audit?size=0&${query}`)).body.items;
    return items.length >= count;
  };
  // On a timeout the test judges the current content of the log.
  await eventually(isLogged, { deadlineMs: 20_000, everyMs: 50 }).catch(() => undefined);
  return items;
}

beforeAll(async () => {
  database = await testDatabase({ migrations: [] });
  fleet = await startFleet({ mode: 'standalone', workers: 0, env: { DATABASE_URL: database.url } });
  for (let i = 0; i < USERS; i++) {
    const username = `writer${i}`;
    await send('PUT', '/users', { username, password: 'writer-password', role: 'default' });
    await send('PUT', '/tenants/users', { tenant_name: 'default_tenant', username, role: 'user' });
  }
}, 120_000);
afterAll(async () => {
  await fleet?.stop();
  await database?.drop();
}, 60_000);

test('100 changes at once: one row each, with the right user', async () => {
  const changes = Array.from({ length: USERS * EACH }, (_, i) => ({
    user: `writer${i % USERS}`,
    id: `s${i}`,
  }));
  const answers = await Promise.all(
    changes.map(({ user, id }) => send('PUT', `/sites/${id}`, {}, `${user}:writer-password`)),
  );
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  const rows = (
    await Promise.all(Array.from({ length: USERS }, (_, i) => untilLogged(`creator_name=writer${i}`, EACH)))
  ).flat();
  const seen = rows.map((row) => `${row.creator_name} ${row.operation} ${row.ref_table} ${row.ref_id}`);
  expect(seen.sort()).toEqual(changes.map(({ user, id }) => `${user} create sites ${id}`).sort());
  expect(rows[0].ref_identifier).toMatchObject({ tenant: 'default_tenant' });
});

test('changes of every service; neither refused nor failed ones, nor reads', async () => {
  const since = new Date().toISOString();
  const secret = 'canary-of-the-audit-log';
  await send('PUT', '/secrets/audited', { value: secret });
  await send('PATCH', '/secrets/audited', { value: secret });
  await send('DELETE', '/secrets/audited');
  await send('PUT', '/filters/blueprints/audited', { filter_rules: [] });
  await send('PUT', '/config/rest.default_page_size', { value: 999 });
  await send('POST', '/tokens', { description: 'audited' });
  await send('PUT', '/sites/s0', {});
  await send('DELETE', '/sites/nosuch');
  await send('PUT', '/users', { username: 'x' }, 'writer0:writer-password');
  await send('POST', '/searches/deployments', { filter_rules: [] });
  await send('DELETE', '/sites/s1');
  const rows = await untilLogged(`since=${since}`, 7);
  const seen = rows.map((row) => `${row.operation} ${row.ref_table} ${row.ref_id}`).sort();
  expect(seen).toEqual([
    'create blueprints_filters audited',
    'create config rest.default_page_size',
    'create secrets audited',
    'create tokens ',
    'delete secrets audited',
    'delete sites s1',
    'update secrets audited',
  ]);
  expect(JSON.stringify(rows)).not.toContain(secret);
});

test('the chain shows a row that was changed afterwards', async () => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const rows = async () =>
    (await client.query('select *, id::int as id from cluster_status.audit_log order by audit_log.id')).rows;
  expect(firstBreak(await rows())).toBeNull();
  const { id } = (await rows())[3];
  await client.query(`update cluster_status.audit_log set creator_name = 'somebody' where id = $1`, [id]);
  expect(firstBreak(await rows())).toBe(id);
  await client.end();
});

test('pages, order, truncation and its rights', async () => {
  const page = (await send('GET', '/audit?size=2&order_by=created_at&desc=true')).body;
  expect(page.items).toHaveLength(2);
  expect(page.items[0].id).toBeGreaterThan(page.items[1].id);
  expect((await send('GET', '/audit?since=2020-01-01&before=2030-01-01')).status).toBe(400);
  expect((await send('GET', '/audit?order_by=rubbish')).status).toBe(400);
  expect((await send('GET', '/audit', undefined, 'writer0:writer-password')).status).toBe(403);
  expect((await send('DELETE', '/audit')).status).toBe(400);
  const { deleted } = (await send('DELETE', `/audit?before=${new Date().toISOString()}`)).body;
  expect(deleted).toBeGreaterThan(100);
});
