// The file server (reference/rest-api.md 5.30) through the gateway: credentials, tenants, versions, ranges, HEAD.

import { eventually } from '@baton/testkit';
import { tgzOf } from '../../services/catalog/src/testing/archives';
import { type Fleet, startFleet } from '../harness/fleet';
import { type Caller, callerOf, type Who } from './caller';

const LARGE = Buffer.alloc(3_000_000, 'large ');
let fleet: Fleet;
let caller: Caller;
let alice: Who;
let eve: Who;
let nobody: Who;

beforeAll(async () => {
  fleet = await startFleet({ mode: 'services', workers: 0, env: { BATON_LOG_LEVEL: 'error' } });
  caller = callerOf(fleet);
  alice = await caller.user('alice', 'default_tenant', 'viewer');
  eve = await caller.user('eve', 'elsewhere', 'user');
  nobody = { user: null, tenant: 'default_tenant' };
  const archive = await tgzOf([
    { name: 'bp/blueprint.yaml', content: 'tosca_definitions_version: cloudify_dsl_1_4\n' },
    { name: 'bp/large.txt', content: LARGE },
  ]);
  await caller.must(caller.admin, 'PUT', '/blueprints/plain', undefined, archive);
  await caller.must(caller.admin, 'PUT', '/blueprints/open?visibility=global', undefined, archive);
}, 180_000);
afterAll(async () => await fleet?.stop(), 60_000);

const get = (who: Who, path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${fleet.baseUrl}${path}`, {
    method,
    headers: {
      ...(who.user === null ? {} : { authorization: `Basic ${Buffer.from(who.user).toString('base64')}` }),
      ...headers,
    },
  });
const FILE = '/resources/blueprints/default_tenant/plain/large.txt';

test('one file on every path that clients know, without a tenant header', async () => {
  for (const prefix of ['', '/api/v3.1', '/api/v2.1']) {
    const answer = await get(alice, `${prefix}${FILE}`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(Buffer.from(await answer.arrayBuffer()).equals(LARGE)).toBe(true);
  }
});

test('HEAD, ranges and validators go through the gateway as they are', async () => {
  const head = await get(alice, FILE, {}, 'HEAD');
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([
    200,
    String(LARGE.length),
    '',
  ]);
  const part = await get(alice, FILE, { range: 'bytes=2999990-' });
  expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([
    206,
    'bytes 2999990-2999999/3000000',
    LARGE.subarray(2_999_990).toString(),
  ]);
  const same = await get(alice, FILE, { 'if-none-match': head.headers.get('etag')! });
  expect([same.status, await same.text()]).toEqual([304, '']);
  const behind = await get(alice, FILE, { range: 'bytes=3000000-' });
  expect([behind.status, behind.headers.get('content-range')]).toEqual([416, 'bytes */3000000']);
  expect(await behind.json()).toMatchObject({ error_code: 'range_not_satisfiable_error' });
  expect((await get(alice, FILE, {}, 'PUT')).status).toBe(405);
});

test('who gets what: no credentials, another tenant, a tenant header that says otherwise', async () => {
  const status = async (who: Who, path: string, headers = {}) => (await get(who, path, headers)).status;
  const open = '/resources/blueprints/default_tenant/open/large.txt';
  expect(await status(nobody, FILE)).toBe(401);
  expect(await status(nobody, open)).toBe(401);
  expect(await status(eve, open)).toBe(200);
  expect(await status(eve, FILE)).toBe(403);
  expect(await status(eve, FILE, { tenant: 'elsewhere' })).toBe(403);
  expect(await status(eve, '/resources/blueprints/elsewhere/plain/large.txt')).toBe(404);
  expect(await status(eve, '/resources/blueprints/nosuch/plain/large.txt')).toBe(403);
  expect(await status(eve, '/resources/uploaded-blueprints/default_tenant/open/open.tar.gz')).toBe(403);
  expect(await status(caller.admin, '/resources/blueprints/nosuch/plain/large.txt')).toBe(404);
});

test('file-server-auth answers for the tenant in the address, whatever the tenant header says', async () => {
  const ask = async (who: Who, uri: string, headers = {}) =>
    (await get(who, '/api/v3.1/file-server-auth', { 'x-original-uri': uri, ...headers })).status;
  expect(await ask(alice, FILE)).toBe(200);
  expect(await ask(alice, FILE, { tenant: 'elsewhere' })).toBe(200);
  expect(await ask(eve, FILE)).toBe(403);
  expect(await ask(eve, FILE, { tenant: 'elsewhere' })).toBe(403);
  expect(await ask(eve, '/resources/blueprints/elsewhere/../default_tenant/plain/large.txt')).toBe(403);
  expect(await ask(eve, '/resources/blueprints/default_tenant/open/large.txt')).toBe(200);
  expect(await ask(eve, '/resources/tenant-resources/elsewhere/x')).toBe(200);
  expect(await ask(nobody, FILE)).toBe(401);
  expect(
    await ask(alice, FILE, { authorization: `Basic ${Buffer.from('alice:wrong').toString('base64')}` }),
  ).toBe(401);
});

describe('files that clients write', () => {
  const file = '/resources/deployments/default_tenant/worked/a/b.txt';
  const text = Buffer.from('<script>alert(1)</script>');
  const write = async (who: Who, path: string, method = 'PUT') =>
    (await caller.send(who, method, path, undefined, method === 'PUT' ? text : undefined)).status;

  test('each area wants its own right; the other tenant gets nothing', async () => {
    const operator = await caller.user('oscar', 'default_tenant', 'operations');
    const member = await caller.user('ursula', 'default_tenant', 'user');
    await caller.must(caller.admin, 'PUT', '/deployments/worked', { blueprint_id: 'plain' });
    const ours = '/resources/tenant-resources/default_tenant/x.txt';
    const everybodys = '/file-server-proxy/global-resources/x.txt';
    const asked = [alice, operator, member, eve, caller.admin, nobody];
    const answers: Record<string, number[]> = {};
    for (const path of [file, ours, everybodys]) {
      answers[path] = [];
      for (const who of asked) answers[path].push(await write(who, path));
    }
    expect(answers).toEqual({
      [file]: [403, 200, 200, 403, 200, 401],
      [ours]: [403, 403, 200, 403, 200, 401],
      [everybodys]: [403, 403, 403, 403, 200, 401],
    });
    expect((await get(eve, file)).status).toBe(403);
    expect((await get(eve, ours)).status).toBe(403);
    expect((await get(eve, '/resources/global-resources/x.txt')).status).toBe(200);
    expect(await write(operator, '/resources/blueprints/default_tenant/plain/x', 'PUT')).toBe(405);
  });

  test('a browser runs nothing of them, and changes are in the audit log', async () => {
    const page = '/resources/deployments/default_tenant/worked/page.html';
    expect(await write(caller.admin, page)).toBe(200);
    const { headers } = await get(alice, page);
    expect(headers.get('content-security-policy')).toMatch(/^sandbox/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    await eventually(async () => {
      const { items } = await caller.must(caller.admin, 'GET', '/audit?creator_name=admin&_size=1000');
      const [entry] = items.filter((one: { ref_id: string }) => one.ref_id === 'page.html');
      expect(entry).toMatchObject({ ref_table: 'resources', operation: 'update' });
    });
  });

  test('they go with the deployment', async () => {
    await caller.must(caller.admin, 'DELETE', '/deployments/worked');
    await eventually(async () => expect((await get(alice, file)).status).toBe(404));
    await caller.must(caller.admin, 'PUT', '/deployments/worked', { blueprint_id: 'plain' });
    await eventually(async () =>
      expect(await caller.must(alice, 'GET', '/resources/deployments/default_tenant/worked/')).toEqual({}),
    );
  });
});
