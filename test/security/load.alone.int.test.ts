import { connect } from 'node:net';
import { eventually } from '@baton/testkit';
import { startWorld, type World } from '../gateway/world';

/** S10: excessive requests of one user are refused within a second, cost no memory, and do not affect other users. */

const T = 'default_tenant';
const MEGABYTE = 1024 * 1024;
let world: World;
beforeAll(async () => {
  world = await startWorld({ isLocal: true });
  await world.call('PUT', '/users', { as: 'admin:admin', body: { username: 'eve', password: 'eve_pw' } });
  await world.call('PUT', '/tenants/users', {
    as: 'admin:admin',
    body: { tenant_name: T, username: 'eve', role: 'user' },
  });
});
afterAll(() => world.stop());

const eve = `Host: x\r\nTenant: ${T}\r\nAuthorization: Basic ${Buffer.from('eve:eve_pw').toString('base64')}\r\n`;

/** Sends bytes. Returns the status of the response (0: none within ten seconds) and the delay. */
function send(text: string): Promise<{ status: number; afterMs: number }> {
  const { hostname, port } = new URL(world.gateways[0]!);
  return new Promise((resolve) => {
    const from = performance.now();
    const socket = connect(Number(port), hostname);
    const end = (status: number): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ status, afterMs: performance.now() - from });
    };
    const timer = setTimeout(() => end(0), 10_000);
    socket.on('error', () => undefined);
    socket.once('data', (chunk) => end(Number(chunk.toString('latin1').slice(9, 12))));
    socket.write(text);
  });
}

const put = (body: string, length = body.length) =>
  `PUT /api/v3.1/things/x HTTP/1.1\r\n${eve}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`;

// A page of a billion rows is the equivalent of `_get_all_results`: the API has no maximum page size (rest-api.md 3.2).
test.each<[string, () => string, number]>([
  ['a body of a gigabyte', () => put('', 1024 * MEGABYTE), 413],
  [
    'an archive beyond its limit',
    () => `PUT /api/v3.1/uploads/x HTTP/1.1\r\n${eve}Content-Length: 99999999999\r\n\r\n`,
    413,
  ],
  ['JSON of 100,000 levels', () => put(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`), 400],
  [
    'an address of 100 kB',
    () => `GET /api/v3.1/things?id=${'x'.repeat(100_000)} HTTP/1.1\r\n${eve}\r\n`,
    431,
  ],
])('%s is refused within a second', async (_what, text, status) => {
  // The first login costs a password hash, which is not part of this measurement.
  await world.call('GET', '/who', { as: 'eve:eve_pw', tenant: T });
  const answer = await send(text());
  expect(answer.status).toBe(status);
  expect(answer.afterMs).toBeLessThan(1_000);
});

test('2,000 connections of one user that hang: he is refused, the other is as quick as before', async () => {
  const timesOf = async (): Promise<number[]> => {
    const times: number[] = [];
    for (let i = 0; i < 150; i++) {
      const from = performance.now();
      expect((await world.call('GET', '/who', { as: 'admin:admin', tenant: T })).status).toBe(200);
      times.push(performance.now() - from);
    }
    return times.sort((a, b) => a - b);
  };
  await timesOf();
  const alone = await timesOf();
  await world.call('GET', '/who', { as: 'eve:eve_pw', tenant: T });
  const before = process.memoryUsage.rss();
  const { hostname, port } = new URL(world.gateways[0]!);
  let refused = 0;
  const sockets = await Promise.all(
    Array.from(
      { length: 2_000 },
      () =>
        new Promise<ReturnType<typeof connect>>((resolve) => {
          const socket = connect(Number(port), hostname, () => {
            socket.write(put('{', 100));
            resolve(socket);
          });
          socket.on('error', () => undefined);
          socket.on('data', (chunk) => {
            if (chunk.toString('latin1').startsWith('HTTP/1.1 429')) refused += 1;
          });
        }),
    ),
  );
  const beside = await timesOf();
  // Both ends of all connections are in this process, together with garbage that was not collected yet.
  expect(process.memoryUsage.rss() - before).toBeLessThan(4 * 64 * MEGABYTE);
  await eventually(() => refused > 1_000);
  expect(beside[148]!).toBeLessThan(2 * alone[148]! + 20);
  for (const socket of sockets) socket.destroy();
}, 60_000);
