import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { eventually } from '@baton/testkit';
import { letTimePass } from '@baton/testkit/let-time-pass';
import { type CallOptions, startWorld, type World } from './world';

/** Clients that begin a request and do not continue: they hold only their own resources, and not for long. */

const T = 'default_tenant';
const basic = (who: string) => `Basic ${Buffer.from(who).toString('base64')}`;

describe.each([
  ['over HTTP', false],
  ['within the process', true],
])('%s', (_way, isLocal) => {
  let world: World;
  const open = new Set<Socket>();
  const IDLE_MS = 1_500;

  beforeAll(async () => {
    world = await startWorld({
      isLocal,
      env: {
        BATON_MAX_CONCURRENT_REQUESTS: '100',
        BATON_BODY_IDLE: `${IDLE_MS}ms`,
        BATON_UPLOAD_IDLE: `${IDLE_MS}ms`,
        BATON_ANSWER_IDLE: '1s',
      },
    });
    await world.call('PUT', '/users', { as: 'admin:admin', body: { username: 'bob', password: 'bob_pw' } });
    await world.call('PUT', '/tenants/users', {
      as: 'admin:admin',
      body: { tenant_name: T, username: 'bob', role: 'user' },
    });
  });
  afterEach(() => {
    for (const socket of open) socket.destroy();
    open.clear();
  });
  afterAll(() => world.stop());

  const get = (path: string, o: CallOptions = {}) =>
    world.call('GET', path, { as: 'admin:admin', tenant: T, ...o });

  function begin(
    path: string,
    head: string,
    body: string,
    who = 'bob:bob_pw',
  ): { socket: Socket; answer: Promise<string> } {
    const { hostname, port } = new URL(world.gateways[0]!);
    const socket = connect(Number(port), hostname);
    open.add(socket);
    socket.write(
      `PUT /api/v3.1${path} HTTP/1.1\r\nHost: x\r\nTenant: ${T}\r\nAuthorization: ${basic(who)}\r\n${head}\r\n\r\n${body}`,
    );
    return { socket, answer: text(socket).catch(() => '') };
  }
  const json = (length: number) => `Content-Type: application/json\r\nContent-Length: ${length}`;

  test('a user with many unfinished bodies is refused himself; everybody else goes on', async () => {
    expect((await get('/things', { as: 'bob:bob_pw' })).status).toBe(200);
    const begun = Array.from({ length: 150 }, () => begin('/things/x', json(100), '{'));
    const refused: string[] = [];
    for (const { socket } of begun)
      socket.once('data', (chunk: Buffer) => {
        if (chunk.toString().startsWith('HTTP/1.1 429')) refused.push(chunk.toString());
      });
    // The user's part of the waiting places is a quarter of a hundred.
    await eventually(() => refused.length >= 100);
    expect(refused[0]).toMatch(/retry-after: 1/);
    expect(refused[0]).toContain('"scope":"user"');
    expect(refused[0]).toContain('"limit":25');
    for (let i = 0; i < 20; i++) {
      expect((await get('/things')).status).toBe(200);
      expect((await world.call('PUT', '/things/y', { as: 'admin:admin', tenant: T, body: {} })).status).toBe(
        200,
      );
    }
    // The service behind the gateway has seen none of these requests, and they do not stay.
    const answers = await Promise.all(begun.map(({ answer }) => answer));
    const ended = answers.filter((answer) => answer.startsWith('HTTP/1.1 408'));
    expect(ended.length).toBeGreaterThanOrEqual(25);
    expect(ended.length + answers.filter((answer) => answer.startsWith('HTTP/1.1 429')).length).toBe(150);
    expect((await world.call('PUT', '/things/z', { as: 'bob:bob_pw', tenant: T, body: {} })).status).toBe(
      200,
    );
  });

  test.each([
    ['a body of known length', '/things/x', json(50_000)],
    ['chunks', '/things/x', 'Content-Type: application/json\r\nTransfer-Encoding: chunked'],
    ['an archive', '/uploads/x', 'Content-Length: 50000'],
  ])('%s byte by byte is too slow', async (_what, path, head) => {
    const { socket, answer } = begin(path, head, '');
    const drip = setInterval(() => socket.write(head.includes('chunked') ? '1\r\nx\r\n' : 'x'), 100);
    socket.once('close', () => clearInterval(drip));
    expect(await answer).toMatch(/^HTTP\/1.1 408 [\s\S]*request_body_timeout_error/);
    clearInterval(drip);
  });

  test('a body in two parts, with a pause between them, is taken whole', async () => {
    const { socket, answer } = begin('/things/x', `${json(20_011)}\r\nConnection: close`, '{"a":"');
    await letTimePass(IDLE_MS / 3, 'a slow client');
    socket.write('y'.repeat(10_000));
    await letTimePass(IDLE_MS / 3, 'a slow client');
    socket.write(`${'y'.repeat(10_003)}"}`);
    expect(await answer).toMatch(/^HTTP\/1.1 200 /);
  });

  test('a client that takes nothing of its answer loses it, and its place', async () => {
    const { hostname, port } = new URL(world.gateways[0]!);
    const socket = connect(Number(port), hostname);
    open.add(socket);
    const ask = `GET /api/v3.1/big HTTP/1.1\r\nHost: x\r\nTenant: ${T}\r\nAuthorization: ${basic('bob:bob_pw')}\r\n\r\n`;
    // Requests more data than the buffers of the system hold.
    socket.write(ask.repeat(16));
    await letTimePass(3_000, 'a client that takes nothing');
    // The connection must have ended while the client read nothing; otherwise this loop would read the rest of the response and
    // wait for more.
    let bytes = 0;
    try {
      for await (const chunk of socket) bytes += chunk.length;
    } catch (error) {
      expect((error as { code?: string }).code).toBe('ECONNRESET');
    }
    expect(bytes).toBeLessThan(16 * 1_400_000);
    expect((await get('/things', { as: 'bob:bob_pw' })).status).toBe(200);
  });
});
