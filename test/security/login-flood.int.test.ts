import { request as httpRequest } from 'node:http';
import { letTimePass } from '@baton/testkit/let-time-pass';
import { startWorld, type World } from '../gateway/world';

/** Row 8 and S25: guessing passwords slows down the guesser, and nobody else. */

const T = 'default_tenant';
let world: World;
beforeAll(async () => {
  world = await startWorld({ gateways: 2 });
  for (const username of ['bob', 'carol'])
    await world.call('PUT', '/users', { as: 'admin:admin', body: { username, password: `${username}_pw` } });
  for (const username of ['bob', 'carol'])
    await world.call('PUT', '/tenants/users', {
      as: 'admin:admin',
      body: { tenant_name: T, username, role: 'viewer' },
    });
});
afterAll(() => world.stop());

const ask = (as: string, at = 0) => world.call('GET', '/who', { as, tenant: T, at });

/** Like `ask`, from another source address: all of 127.0.0.0/8 is this machine. */
function askFrom(localAddress: string, as: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const url = new URL(`${world.gateways[0]!}/api/v3.1/who`);
    const headers = { tenant: T, authorization: `Basic ${Buffer.from(as).toString('base64')}` };
    const sent = httpRequest(url, { localAddress, headers, agent: false }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode!));
    });
    sent.on('error', reject);
    sent.end();
  });
}

test('60 guesses in a second: the free ones are looked at, the rest gets 429 with Retry-After and the limit', async () => {
  const askedAt = Date.now();
  const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => ask(`bob:guess${i}`)));
  // Ten failures are free. A request that arrives after them starts the first delay. On a slow machine the first delays, of 1, 2,
  // 4 s, may be over meanwhile, and each lets one more request in.
  const delaysOver = Math.floor(Math.log2(1 + (Date.now() - askedAt) / 1000));
  const count = (status: number) => answers.filter((answer) => answer.status === status).length;
  expect(count(401)).toBeLessThanOrEqual(10 + 1 + delaysOver);
  expect(count(401) + count(429)).toBe(60);
  const refused = answers.find(
    (answer) => answer.status === 429 && answer.body.scope === 'account and address',
  );
  expect(Number(refused!.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect(refused!.body).toMatchObject({
    error_code: 'too_many_requests_error',
    limit: 10,
    what: 'failed logins in a row',
  });
  // Other users at this address, and the same user at another address, are not affected.
  expect((await ask('carol:carol_pw')).status).toBe(200);
  expect(await askFrom('127.0.0.77', 'bob:bob_pw')).toBe(200);
});

test('who is logged in is not slowed by the guesses of others', async () => {
  const own = async (): Promise<number> => {
    const times: number[] = [];
    for (let i = 0; i < 60; i++) {
      const from = performance.now();
      expect((await ask('carol:carol_pw')).status).toBe(200);
      times.push(performance.now() - from);
    }
    return times.sort((a, b) => a - b)[30]!;
  };
  await own();
  const aloneMs = await own();
  let isOver = false;
  const flood = (async () => {
    for (let i = 0; !isOver; i++) {
      await Promise.all(Array.from({ length: 10 }, (_, k) => askFrom('127.0.0.78', `bob:guess${i}-${k}`)));
      await letTimePass(100, 'the rate of the flood');
    }
  })();
  const besideMs = await own();
  isOver = true;
  await flood;
  // Without delays it took five times as long; the rest is noise of a busy machine.
  expect(besideMs).toBeLessThan(3 * aloneMs + 5);
});
