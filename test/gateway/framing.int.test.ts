import { startWorld, type World } from './world';

/** Requests that no HTTP client sends: how their bytes are framed must never be a way around the routes. */

let world: World;
beforeAll(async () => {
  world = await startWorld({});
});
afterAll(() => world.stop());

test.each([
  ['Tenant', 'Tenant: default_tenant\r\ntenant: t2\r\n'],
  ['Authorization', `Authorization: Basic YTph\r\nAuthorization: Basic YTpi\r\n`],
  ['Authentication-Token', `Authentication-Token: a\r\nAuthentication-Token: a\r\n`],
  ['Execution-Token', `Execution-Token: a\r\nExecution-Token: b\r\n`],
])('two %s headers are refused', async (_name, headers) => {
  const answer = await world.send(
    `GET /api/v3.1/things HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`,
  );
  expect(answer).toMatch(/^HTTP\/1.1 400 /);
  expect(answer).toContain('bad_parameters_error');
});

test.each([
  ['length and chunks', 'Content-Length: 3\r\nTransfer-Encoding: chunked\r\n'],
  ['two lengths', 'Content-Length: 3\r\nContent-Length: 4\r\n'],
  ['a name with a blank', 'Tenant : t2\r\n'],
  ['a folded header', 'Tenant: t2\r\n t3\r\n'],
])('%s are refused', async (_name, headers) => {
  expect(
    await world.send(`PUT /api/v3.1/things/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\nabc`),
  ).toMatch(/^HTTP\/1.1 400 /);
});

test('an absolute request target is no way around the routes', async () => {
  expect(
    await world.send('GET http://elsewhere/api/v3.1/things HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'),
  ).toMatch(/^HTTP\/1.1 404 /);
});
