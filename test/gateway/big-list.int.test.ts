import { once } from 'node:events';
import { connect } from 'node:net';
import { eventually } from '@baton/testkit';
import { BIG_ITEMS, startWorld, type World } from './world';

/**
 * Lists that a socket does not take at once, on a gateway with capacity for one request: a request that kept its place would
 * block everybody.
 */

const who = { as: 'admin:admin', tenant: 'default_tenant' };

describe.each([
  ['over HTTP', false],
  ['within the process', true],
])('%s', (_way, isLocal) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ isLocal, env: { BATON_MAX_CONCURRENT_REQUESTS: '1' } });
  });
  afterAll(() => world.stop());

  test.each(['/api/v1', '/api/v2.1', '/api/v3.1'])(
    'a list of 1.4 MB through %s answers whole, again and again',
    async (api) => {
      for (let i = 0; i < 3; i++) {
        const { status, body, headers } = await world.call('GET', '/big', { ...who, api });
        expect(status).toBe(200);
        const items = api === '/api/v1' ? body : body.items;
        expect(items).toHaveLength(BIG_ITEMS);
        expect(items.at(-1).id).toHaveLength(100_000);
        expect(headers.get('x-baton-bare-list')).toBeNull();
        await eventually(async () => (await world.call('GET', '/open')).status === 200);
      }
    },
  );

  test('a client that goes away midway gives its place back', async () => {
    const { hostname, port } = new URL(world.gateways[0]!);
    for (const api of ['/api/v1', '/api/v3.1']) {
      const socket = connect(Number(port), hostname);
      const authorization = `Basic ${Buffer.from(who.as).toString('base64')}`;
      socket.write(
        `GET ${api}/big HTTP/1.1\r\nHost: x\r\nTenant: ${who.tenant}\r\nAuthorization: ${authorization}\r\n\r\n`,
      );
      await once(socket, 'data');
      socket.destroy();
      await eventually(async () => (await world.call('GET', '/open')).status === 200);
    }
    expect((await world.call('GET', '/big', { ...who, api: '/api/v1' })).body).toHaveLength(BIG_ITEMS);
  });
});
