import { connect } from 'node:net';
import { startWorld, type World } from './world';

/** Requests that no HTTP client sends: the framing of their bytes must never allow to bypass the routes. */

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

describe('S21: one request in is one request out', () => {
  const who = `Tenant: default_tenant\r\nAuthorization: Basic ${Buffer.from('admin:admin').toString('base64')}\r\n`;
  const hidden = 'PUT /api/v3.1/things/hidden HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}';
  /** Sends these bytes and leaves the connection open. Returns the response until the connection is closed, or for two seconds. */
  async function exchange(text: string): Promise<string> {
    const { hostname, port } = new URL(world.gateways[0]!);
    const socket = connect(Number(port), hostname);
    const timer = setTimeout(() => socket.destroy(), 2_000);
    socket.write(text);
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    await new Promise((resolve) => socket.once('close', resolve).on('error', () => undefined));
    clearTimeout(timer);
    return answer;
  }
  /** Returns the statuses received on one connection, and the number of requests that the service saw. */
  async function through(text: string): Promise<{ statuses: string[]; seen: number }> {
    const before = world.seen.requests;
    const answer = await exchange(text);
    return {
      statuses: [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status!),
      seen: world.seen.requests - before,
    };
  }
  const json = 'Content-Type: application/json\r\n';
  const put = (headers: string, body: string) =>
    `PUT /api/v3.1/things/x HTTP/1.1\r\nHost: x\r\n${who}${json}${headers}\r\n${body}`;

  test.each([
    ['CL.TE', `Content-Length: 6\r\nTransfer-Encoding: chunked\r\n`, `0\r\n\r\n${hidden}`],
    ['TE.CL', `Transfer-Encoding: chunked\r\nContent-Length: 4\r\n`, `5c\r\n${hidden}\r\n0\r\n\r\n`],
    ['TE.TE with a blank', 'Transfer-Encoding : chunked\r\n', `0\r\n\r\n${hidden}`],
    ['TE.TE with a tab', 'Transfer-Encoding:\tchunked\r\nTransfer-Encoding: x\r\n', `0\r\n\r\n${hidden}`],
    ['an unknown coding', 'Transfer-Encoding: xchunked\r\n', `0\r\n\r\n${hidden}`],
    ['a length with a sign', 'Content-Length: +2\r\n', '{}'],
    ['a length in hex', 'Content-Length: 0x2\r\n', '{}'],
    ['a bare line feed', 'X: y\nContent-Length: 2\r\n', '{}'],
    ['an obsolete fold', 'X: y\r\n z\r\nContent-Length: 2\r\n', '{}'],
  ])('%s reaches no service, and nothing of it becomes a second request', async (_what, headers, body) => {
    const { statuses, seen } = await through(put(headers, body));
    expect(seen).toBe(0);
    expect(statuses.every((status) => status === '400')).toBe(true);
  });

  test('a body that is a request is a body; two requests on one connection are two', async () => {
    const inside = await through(put(`Connection: close\r\nContent-Length: ${hidden.length}\r\n`, hidden));
    expect(inside).toEqual({ statuses: ['400'], seen: 1 });
    const two = await through(
      put('Content-Length: 2\r\n', '{}') + put('Connection: close\r\nContent-Length: 2\r\n', '{}'),
    );
    expect(two).toEqual({ statuses: ['200', '200'], seen: 2 });
  });

  test('extensions of chunks and trailers end at the gateway', async () => {
    const body = '2;a=b\r\n{}\r\n0\r\nTenant: t2\r\nX-Baton-Principal: forged\r\n\r\n';
    const answer = await exchange(put('Connection: close\r\nTransfer-Encoding: chunked\r\n', body));
    expect(answer).toMatch(/^HTTP\/1.1 200 /);
    expect(answer).toContain('"tenant":"default_tenant"');
    expect(answer).not.toContain('forged');
    expect(answer).not.toContain('a=b');
  });

  test('names that something in between could take for ours are no identity', async () => {
    const forged = [
      'Tenant_: t2',
      'X-Baton-Principal: forged',
      'X_Baton_Principal: forged',
      'x-baton-packed: yes',
      'X-Baton-Bare-List: yes',
      'X-Forwarded-For: 203.0.113.9',
      'X-Forwarded-Host: evil.example',
      'X-Forwarded-Proto: https',
      'X-Real-IP: 203.0.113.9',
      'Forwarded: for=203.0.113.9',
    ];
    const answer = await exchange(
      `GET /api/v3.1/who HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${who}${forged.join('\r\n')}\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 200 /);
    const { principal, headers } = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4));
    expect(principal).toMatchObject({ username: 'admin', tenant: 'default_tenant' });
    expect(JSON.stringify(headers)).not.toMatch(/forged|203\.0\.113\.9|evil\.example|"x-forwarded-proto"/);
    expect(headers['x-baton-bare-list']).toBeUndefined();
  });

  test('what does not speak HTTP/1.1 is no way in', async () => {
    const { seen } = await through('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    expect(seen).toBe(0);
    const upgrade =
      'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n';
    const answer = await exchange(`GET /api/v3.1/open HTTP/1.1\r\nHost: x\r\n${upgrade}\r\n`);
    expect(answer).not.toMatch(/^HTTP\/1.1 101 /);
  });
});

test('an absolute request target is no way around the routes', async () => {
  expect(
    await world.send('GET http://elsewhere/api/v3.1/things HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'),
  ).toMatch(/^HTTP\/1.1 404 /);
});
