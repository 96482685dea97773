import { spawnSync } from 'node:child_process';
import { eventually } from '@baton/testkit';
import { type CallOptions, startWorld, type World } from './world';

const admin = 'admin:admin';
const T = 'default_tenant';
let world: World;
const call = (...args: Parameters<World['call']>) => world.call(...args);
const get = (path: string, o: CallOptions = {}) => call('GET', path, { as: admin, tenant: T, ...o });

beforeAll(async () => {
  // With a long cache, entries that disappear in time are dropped by the message and not by their expiry.
  world = await startWorld({
    gateways: 2,
    env: { BATON_CREDENTIAL_CACHE_MS: '60000', BATON_MAX_UPLOAD_BYTES: '2000000' },
  });
  await call('POST', '/tenants/t2', { as: admin });
  for (const name of ['bob', 'carol', 'dave']) {
    await call('PUT', '/users', { as: admin, body: { username: name, password: `${name}_pw` } });
  }
  for (const [username, tenant_name, role] of [
    ['bob', T, 'viewer'],
    ['carol', T, 'user'],
    ['carol', 't2', 'manager'],
  ]) {
    await call('PUT', '/tenants/users', { as: admin, body: { tenant_name, username, role } });
  }
});
afterAll(() => world.stop());

test('monitoring is for the cookie of a browser, or any other credential, with its permission', async () => {
  const ask = async (o: CallOptions) => (await call('GET', '/monitoring-auth', o)).status;
  const { value } = (await call('POST', '/tokens', { as: admin, body: {} })).body;
  expect(await ask({})).toBe(401);
  expect(await ask({ as: admin })).toBe(200);
  expect(await ask({ as: 'admin:wrong' })).toBe(401);
  expect(await ask({ as: 'bob:bob_pw', tenant: T })).toBe(403);
  expect(await ask({ headers: { cookie: `a=b; XSRF-TOKEN=${value}` } })).toBe(200);
  expect(await ask({ headers: { cookie: 'XSRF-TOKEN=garbage' } })).toBe(401);
});

const unauthorized = 'unauthorized_error';
const forbidden = 'forbidden_error';

test.each<[string, string, string, CallOptions, number, string | null]>([
  ['good', 'GET', '/things', { as: admin, tenant: T }, 200, null],
  ['name in other letters', 'GET', '/things', { as: 'ADMIN:admin', tenant: T }, 200, null],
  ['no credentials', 'GET', '/things', { tenant: T }, 401, unauthorized],
  ['wrong password', 'GET', '/things', { as: 'admin:wrong', tenant: T }, 401, unauthorized],
  ['unknown user', 'GET', '/things', { as: 'nobody:x', tenant: T }, 401, unauthorized],
  ['empty credentials', 'GET', '/things', { as: ':', tenant: T }, 401, unauthorized],
  [
    'undecodable header',
    'GET',
    '/things',
    { headers: { authorization: 'Basic !!!notbase64' }, tenant: T },
    401,
    unauthorized,
  ],
  ['bearer', 'GET', '/things', { headers: { authorization: 'Bearer abc' }, tenant: T }, 401, unauthorized],
  [
    'garbage token',
    'GET',
    '/things',
    { headers: { 'authentication-token': 'garbage' }, tenant: T },
    401,
    unauthorized,
  ],
  [
    'unknown token',
    'GET',
    '/things',
    { headers: { 'authentication-token': `ctok-abcdefghij-${'x'.repeat(40)}` }, tenant: T },
    401,
    unauthorized,
  ],
  [
    'bad execution token',
    'GET',
    '/things',
    { headers: { 'execution-token': 'garbage' }, tenant: T },
    401,
    unauthorized,
  ],
  ['admin without tenant', 'GET', '/things', { as: admin }, 403, forbidden],
  ['empty tenant', 'GET', '/things', { as: admin, tenant: '' }, 403, forbidden],
  ['unknown tenant', 'GET', '/things', { as: admin, tenant: 'nosuch' }, 403, forbidden],
  ['tenant as a filter is no tenant', 'GET', `/things?tenant_name=${T}`, { as: admin }, 403, forbidden],
  ['user without tenant', 'GET', '/things', { as: 'bob:bob_pw' }, 403, forbidden],
  ['user in no tenant', 'GET', '/things', { as: 'dave:dave_pw', tenant: T }, 403, forbidden],
  ['user in a foreign tenant', 'GET', '/things', { as: 'bob:bob_pw', tenant: 't2' }, 403, forbidden],
  ['viewer reads', 'GET', '/things', { as: 'bob:bob_pw', tenant: T }, 200, null],
  ['viewer may not write', 'PUT', '/things/x', { as: 'bob:bob_pw', tenant: T, body: {} }, 403, forbidden],
  ['own user in any tenant', 'GET', '/user', { as: 'dave:dave_pw', tenant: T }, 200, null],
  ['own user without tenant', 'GET', '/user', { as: 'dave:dave_pw' }, 200, null],
  ['own user in an unknown tenant', 'GET', '/user', { as: 'dave:dave_pw', tenant: 'nosuch' }, 403, forbidden],
  ['permissions for others', 'GET', '/permissions', { as: 'bob:bob_pw', tenant: T }, 401, unauthorized],
  ['tenant by path, member', 'GET', '/tenants/t2', { as: 'carol:carol_pw' }, 200, null],
  ['tenant by path, stranger', 'GET', '/tenants/t2', { as: 'bob:bob_pw', tenant: T }, 403, forbidden],
  ['unknown tenant by path, stranger', 'GET', '/tenants/nosuch', { as: 'bob:bob_pw' }, 403, forbidden],
  ['unknown tenant by path, admin', 'GET', '/tenants/nosuch', { as: admin }, 404, 'not_found_error'],
  ['open to everybody', 'GET', '/open', {}, 200, null],
  ['unknown path without credentials', 'GET', '/nosuch', {}, 404, 'not_found_error'],
  ['trailing slash', 'GET', '/things/', { as: admin, tenant: T }, 404, 'not_found_error'],
  ['wrong method', 'POST', '/things', { as: admin, tenant: T }, 405, 'method_not_allowed_error'],
  ['unknown version', 'GET', '/things', { as: admin, tenant: T, api: '/api/v4' }, 404, 'not_found_error'],
  ['later than v3', 'GET', '/things', { as: admin, tenant: T, api: '/api/v3' }, 404, 'not_found_error'],
  ['known to v3', 'GET', '/tenants', { as: admin, api: '/api/v3' }, 200, null],
  ['not in v2.1', 'GET', '/tenants', { as: admin, tenant: T, api: '/api/v2.1' }, 404, 'not_found_error'],
  ['v2.1 without tenant, member', 'GET', '/things', { as: 'bob:bob_pw', api: '/api/v2.1' }, 200, null],
  [
    'v2.1 without tenant, stranger',
    'GET',
    '/things',
    { as: 'dave:dave_pw', api: '/api/v2.1' },
    403,
    forbidden,
  ],
  ['v2.1 with tenant', 'GET', '/things', { as: 'carol:carol_pw', tenant: 't2', api: '/api/v2.1' }, 200, null],
  ['outside of the API', 'GET', '/things', { as: admin, tenant: T, api: '' }, 404, 'not_found_error'],
])('%s: %s %s', async (_name, method, path, o, status, code) => {
  const answer = await call(method, path, o);
  expect({ status: answer.status, code: answer.body?.error_code ?? null }).toEqual({ status, code });
  if (status >= 400)
    expect(answer.body).toMatchObject({ message: expect.any(String), server_traceback: null });
  expect(answer.headers.get('www-authenticate')).toBeNull();
});

test('405 and OPTIONS name the methods; HEAD is GET without a body', async () => {
  expect((await call('DELETE', '/things')).headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  const options = await call('OPTIONS', '/things');
  expect([options.status, options.headers.get('allow')]).toEqual([200, 'GET, HEAD, OPTIONS']);
  const head = await call('HEAD', '/things', { as: admin, tenant: T });
  expect([head.status, head.text, Number(head.headers.get('content-length')) > 0]).toEqual([200, '', true]);
});

test('the service gets the true identity, whatever the client claims, and no credential', async () => {
  const { body, headers } = await get('/who', {
    as: 'carol:carol_pw',
    tenant: 't2',
    headers: {
      'x-baton-principal': 'forged',
      'x-forwarded-user': 'admin',
      'x-request-id': 'my-id',
      traceparent: '00-1-2-01',
    },
  });
  expect(body.principal).toMatchObject({
    username: 'carol',
    tenant: 't2',
    authMethod: 'http_basic',
    isBootstrapAdmin: false,
  });
  expect(body.principal.roles).toEqual(['default', 'manager']);
  expect(Object.keys(body.headers)).not.toEqual(expect.arrayContaining(['authorization']));
  expect(body.headers).not.toHaveProperty('tenant');
  expect(body.headers).not.toHaveProperty('x-forwarded-user');
  expect(body.headers).toMatchObject({ 'x-request-id': 'my-id', traceparent: '00-1-2-01' });
  expect(headers.get('x-request-id')).toBe('my-id');
  expect(headers.get('x-cloudify-audit-auth-method')).toBe('http_basic');
  expect(headers.get('x-cloudify-audit-tenant')).toBe('t2');
  expect(headers.get('x-cloudify-audit-username')).toBe('carol');
  expect(
    (await call('GET', '/open', { headers: { 'x-baton-principal': 'forged' } })).body.principal.username,
  ).toBe('');
});

test('refusals have the header of who asked, without a name', async () => {
  const refused = await get('/who', { as: 'carol:wrong', tenant: 't2' });
  expect([refused.status, refused.headers.get('x-cloudify-audit-auth-method')]).toEqual([401, '']);
  const unknown = await get('/nosuch', { as: 'carol:carol_pw', tenant: 't2' });
  expect([unknown.status, unknown.headers.get('x-cloudify-audit-auth-method')]).toEqual([404, '']);
});

test('a revoked token, a changed password and a lost role count on every gateway within a second', async () => {
  const token = (await call('POST', '/tokens', { as: 'bob:bob_pw', body: {} })).body;
  const byToken = { headers: { 'authentication-token': token.value }, tenant: T };
  for (const at of [0, 1]) expect((await call('GET', '/things', { ...byToken, at })).status).toBe(200);
  await call('DELETE', `/tokens/${token.id}`, { as: 'bob:bob_pw', at: 1 });
  const gone = (o: CallOptions, status: number) =>
    Promise.all(
      [0, 1].map((at) =>
        eventually(async () => (await call('GET', '/things', { ...o, at })).status === status, {
          deadlineMs: 1000,
        }),
      ),
    );
  await gone(byToken, 401);

  const byPassword = { as: 'bob:bob_pw', tenant: T };
  for (const at of [0, 1]) expect((await call('GET', '/things', { ...byPassword, at })).status).toBe(200);
  await call('POST', '/users/bob', { as: admin, body: { password: 'bob_pw2' } });
  await gone(byPassword, 401);
  const anew = { as: 'bob:bob_pw2', tenant: T };
  for (const at of [0, 1]) expect((await call('GET', '/things', { ...anew, at })).status).toBe(200);
  await call('DELETE', '/permissions/viewer/site_list', { as: admin });
  await gone(anew, 403);
  await call('PUT', '/permissions/viewer/site_list', { as: admin });
  await gone(anew, 200);
  await call('POST', '/users/active/bob', { as: admin, body: { action: 'deactivate' } });
  await gone(anew, 401);
});

test('_all_tenants reaches where the permission is held, and shows the request tenant only by its own rights', async () => {
  const all = (await get('/things?_all_tenants=true', { as: 'carol:carol_pw' })).body.items[0].principal;
  expect(all.tenants.map((t: { name: string }) => t.name)).toEqual([T, 't2']);
  await call('POST', '/tenants/t9', { as: admin });
  const { status, body } = await get('/things?_all_tenants=true', { as: 'carol:carol_pw', tenant: 't9' });
  expect([status, body.items[0].principal.tenant]).toEqual([200, T]);
  expect((await get('/things?_all_tenants=true', { as: 'dave:dave_pw' })).status).toBe(403);
});

test('_all_tenants needs no tenant to be named, and reaches no further without one', async () => {
  const without = (as: string) => call('GET', '/things?_all_tenants=true', { as });
  const carols = await without('carol:carol_pw');
  expect([carols.status, carols.body.items[0].principal.tenant]).toEqual([200, T]);
  expect(carols.body.items[0].principal.tenants.map((t: { name: string }) => t.name)).toEqual([T, 't2']);
  expect((await without(admin)).status).toBe(200);
  expect((await without('dave:dave_pw')).status).toBe(403);
  expect((await call('GET', '/things', { as: 'carol:carol_pw' })).status).toBe(403);
});

test('a tenant that is not there is refused where none is needed, too', async () => {
  const tokens = (tenant?: string) =>
    call('GET', '/tokens', { as: 'carol:carol_pw', ...(tenant ? { tenant } : {}) });
  expect((await tokens()).status).toBe(200);
  expect((await tokens(T)).status).toBe(200);
  const refused = await tokens('nosuch');
  expect([refused.status, refused.body.error_code]).toEqual([403, forbidden]);
});

test('a client that sends first and reads afterwards reads why it was refused', async () => {
  const chunk = `ffff\r\n${'x'.repeat(0xffff)}\r\n`;
  const answer = await world.send(
    `PUT /api/v3.1/uploads/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(80)}0\r\n\r\n`,
  );
  expect(answer).toMatch(/^HTTP\/1.1 401 [\s\S]*Connection: keep-alive[\s\S]*unauthorized_error/);
});

test("an execution's token acts as its creator, opens its own routes, and dies with it", async () => {
  const token = '0123456789abcdef0123456789abcdef';
  world.executions.set(token, { executionId: 'e1', tenant: T, createdBy: 'carol' });
  const headers = { 'execution-token': token };
  const who = (await call('GET', '/who', { headers })).body.principal;
  expect(who).toMatchObject({
    username: 'carol',
    tenant: T,
    authMethod: 'execution_token',
    executionId: 'e1',
  });
  expect((await call('POST', '/work', { headers })).status).toBe(200);
  expect(
    (await call('POST', '/work', { headers: { 'authentication-token': token }, tenant: T })).status,
  ).toBe(200);
  // In another tenant the user's roles apply again, and only an administrator has this permission.
  expect((await call('POST', '/work', { headers, tenant: 't2' })).status).toBe(403);
  expect((await call('POST', '/work', { as: 'carol:carol_pw', tenant: T })).status).toBe(403);
  world.executions.delete(token);
  expect((await call('GET', '/who', { headers })).status).toBe(401);
});

test('an execution that is being cancelled begins nothing any more, and may end what it has begun', async () => {
  const token = 'fedcba9876543210fedcba9876543210';
  const headers = { 'execution-token': token };
  for (const status of ['cancelling', 'force_cancelling', 'kill_cancelling']) {
    world.executions.set(token, { executionId: 'e2', tenant: T, createdBy: 'carol', status });
    const refused = await call('POST', '/work', { headers });
    expect([refused.status, refused.body.error_code]).toEqual([403, 'forbidden_while_cancelling']);
    expect((await call('GET', '/who', { headers })).status).toBe(200);
  }
});

test("an agent's token of an execution opens only what its operation needs, and the service learns of it", async () => {
  const token = 'agent.0193f3a0-0000-7000-8000-000000000001.WyJhcHBfMSJd.00112233445566778899aabbccddeeff';
  const execution = {
    executionId: 'e3',
    tenant: T,
    createdBy: 'carol',
    deploymentId: 'd1',
    blueprintId: 'b1',
  };
  const headers = { 'execution-token': token };
  world.executions.set(token, execution);
  expect((await call('POST', '/work', { headers })).status).toBe(200);
  expect((await call('POST', '/work', { headers: { 'authentication-token': token } })).status).toBe(200);
  world.executions.set(token, { ...execution, isAgent: true });
  for (const [method, path] of [
    ['POST', '/work'],
    ['GET', '/who'],
    ['GET', '/things'],
  ] as const) {
    const refused = await call(method, path, { headers });
    expect([refused.status, refused.body.message]).toEqual([
      403,
      expect.stringContaining('opens only what the operation itself needs'),
    ]);
  }
});

async function upload(chunks: number, headers: Record<string, string> = {}): Promise<Response> {
  let left = chunks;
  const body = new ReadableStream({
    pull(controller) {
      if (left-- > 0) controller.enqueue(new Uint8Array(100_000));
      else controller.close();
    },
  });
  const authorization = `Basic ${Buffer.from(admin).toString('base64')}`;
  return fetch(`${world.gateways[0]}/api/v3.1/uploads/x`, {
    method: 'PUT',
    body,
    duplex: 'half',
    headers: { authorization, tenant: T, 'content-type': 'application/json', ...headers },
  } as RequestInit);
}

test('uploads stream through in chunks, up to their limit', async () => {
  expect(await (await upload(15)).json()).toEqual({ bytes: 1_500_000 });
  const refused = await upload(25).then(
    (answer) => answer.status,
    () => 'broken off',
  );
  expect([413, 'broken off']).toContain(refused);
  expect(world.seen.uploads).toEqual([1_500_000]);
  const announced = await world.send(
    `PUT /api/v3.1/uploads/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2000001\r\nAuthorization: Basic ${Buffer.from(admin).toString('base64')}\r\n\r\n`,
  );
  expect(announced).toMatch(/^HTTP\/1.1 413 [\s\S]*payload_too_large_error/);
});

test('a client that leaves takes its request along', async () => {
  const leave = new AbortController();
  const authorization = `Basic ${Buffer.from(admin).toString('base64')}`;
  const request = fetch(`${world.gateways[0]}/api/v3.1/hang`, {
    headers: { authorization, tenant: T },
    signal: leave.signal,
  });
  request.catch(() => undefined);
  await eventually(() => world.seen.hanging === 1);
  leave.abort();
  await eventually(() => world.seen.aborted === 1);
});

test('events pass as they happen', async () => {
  const leave = new AbortController();
  const authorization = `Basic ${Buffer.from(admin).toString('base64')}`;
  const answer = await fetch(`${world.gateways[0]}/api/v3.1/watch`, {
    headers: { authorization, tenant: T },
    signal: leave.signal,
  });
  expect(answer.headers.get('content-type')).toContain('text/event-stream');
  const { value } = await answer.body!.getReader().read();
  expect(Buffer.from(value!).toString()).toContain('data: {"n":1}');
  leave.abort();
});

test('a service that is down is 503 with Retry-After, and comes back', async () => {
  await world.catalog.stop();
  const down = await get('/things');
  expect([down.status, down.body.error_code, down.headers.get('retry-after')]).toEqual([
    503,
    'service_unavailable_error',
    '1',
  ]);
  expect((await get('/user')).status).toBe(200);
  await world.catalog.start();
  expect((await get('/things')).status).toBe(200);
});

test('v1 answers lists as bare arrays', async () => {
  const { body } = await get('/things', { api: '/api/v1' });
  expect(body).toEqual([expect.objectContaining({ version: 'v2.1' })]);
  expect((await get('/things', { api: '/api/v1', as: 'admin:wrong' })).body.error_code).toBe(unauthorized);
});

test('v1 has no events', async () => {
  const { status, body } = await get('/events', { api: '/api/v1' });
  expect([status, body.error_code]).toEqual([405, 'method_not_allowed_error']);
  expect((await get('/events', { api: '/api/v2.1' })).status).not.toBe(405);
});

test('maintenance mode lets in only what it names', async () => {
  world.setMaintenance(0, 'activated');
  expect((await get('/things')).body.error_code).toBe('maintenance_mode_active');
  expect((await get('/things', { headers: { 'x-bypass-maintenance': 'True' } })).status).toBe(200);
  expect((await get('/things', { at: 1 })).status).toBe(200);
  world.setMaintenance(0, 'deactivated');
  expect((await get('/things')).status).toBe(200);
});

/** Validates in a separate process: the validator is an ES module, which the test runner cannot load. */
function validate(document: unknown): unknown {
  const script = `import { Validator } from '@seriousme/openapi-schema-validator';
    import { readFileSync } from 'node:fs';
    console.log(JSON.stringify(await new Validator().validate(JSON.parse(readFileSync(0, 'utf8')))));`;
  const run = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    input: JSON.stringify(document),
    encoding: 'utf8',
  });
  return JSON.parse(run.stdout);
}

test('the description is valid OpenAPI 3.1 and its pages need nothing from elsewhere', async () => {
  const document = (await call('GET', '/openapi.json', { api: '/api' })).body;
  expect(validate(document)).toMatchObject({ valid: true });
  expect(document.paths['/api/v3.1/things']).toBeDefined();
  const page = await call('GET', '/docs', { api: '/api' });
  const links = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]!);
  expect(links.length).toBeGreaterThan(3);
  for (const link of links) {
    const file = await call('GET', link, { api: '' });
    expect([link, file.status]).toEqual([link, 200]);
    expect(
      (await call('GET', link, { api: '', headers: { 'if-none-match': file.headers.get('etag')! } })).status,
    ).toBe(304);
  }
  expect((await call('GET', '/', { api: '' })).text).toContain('/api/v3.1');
});

test('strangers learn whether the gateway is ready and nothing else; metrics are on the port for operators', async () => {
  expect((await call('GET', '/healthz', { api: '' })).status).toBe(200);
  const ready = await call('GET', '/readyz', { api: '' });
  expect([ready.status, ready.body]).toEqual([200, { status: 'ready', service: 'gateway' }]);
  expect((await call('GET', '/metrics', { api: '' })).status).toBe(404);
  const scraped = await (await fetch(`${world.ops}/metrics`)).text();
  expect(scraped).toMatch(/baton_http_seconds_count\{.*route="createUser"/);
  expect(await (await fetch(`${world.ops}/readyz`)).json()).toMatchObject({
    checks: { broker: { ok: true } },
  });
  expect((await fetch(`${world.ops}/api/v3.1/tenants`)).status).toBe(404);
});
