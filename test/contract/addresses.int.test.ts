// Archives by URL: the specification names the field but not its place, so it is accepted in the query and in a JSON body. A body
// with a URL is never treated as the archive itself. Needs the bundles of `npm run build`.

import { type Answer, startWorld, type World } from './world';

let world: World;
beforeAll(async () => {
  world = await startWorld();
}, 120_000);
afterAll(async () => await world?.stop(), 60_000);

/** An address that cannot be fetched; the refusal names the field. */
const CLOSED = 'http://127.0.0.1:1/archive';
const refusal = ({ status, body }: Answer) => [status, body.field];

test.each([
  ['v3.1', 'POST', '/plugins', 'plugin_archive_url'],
  ['v2.1', 'POST', '/plugins/$newId1', 'plugin_archive_url'],
  ['v2.1', 'PUT', '/plugins/$newId1', 'plugin_archive_url'],
  ['v3.1', 'PUT', '/snapshots/far/archive', 'snapshot_archive_url'],
  ['v2.1', 'PUT', '/snapshots/far/archive', 'snapshot_archive_url'],
])('%s %s %s with %s', async (version, method, path, field) => {
  const inBody = await world.send(version, method, { path, body: { [field]: CLOSED } });
  expect(refusal(inBody)).toEqual([400, field]);
  const inQuery = await world.send(version, method, { path: `${path}?${field}=${CLOSED}` });
  expect(inBody.body).toEqual(inQuery.body);
  expect(refusal(await world.send(version, method, { path, body: {} }))).toEqual([400, field]);
  const wrong = await world.send(version, method, { path, body: { [field]: 5 } });
  expect(refusal(wrong)).toEqual([400, field]);
  expect((await world.send('v3.1', 'GET', { path: '/snapshots/far' })).status).toBe(404);
});

test('an address where snapshots are made is no snapshot to be made', async () => {
  const body = { snapshot_archive_url: CLOSED };
  const answer = await world.send('v3.1', 'PUT', { path: '/snapshots/archive', body });
  expect(refusal(answer)).toEqual([400, 'snapshot_archive_url']);
});

test('v2.1 GET /token of the sample is GET /tokens', async () => {
  const { status, body } = await world.send('v2.1', 'GET', { path: '/token' });
  expect([status, typeof body.value]).toEqual([200, 'string']);
  expect((await world.send('v3.1', 'GET', { path: '/token' })).status).toBe(404);
});
