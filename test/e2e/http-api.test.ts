// The example http-api against a small API of this test: installed, checked, drifted, healed, updated and uninstalled.
import { join } from 'node:path';
import type { Client } from '@baton/client';
import { startE2eFleet } from '../harness/e2e';
import { builtPlugin } from '../harness/example';
import type { Fleet } from '../harness/fleet';
import { type ItemsApi, startItemsApi } from '../harness/items-api';
import { root } from '../harness/processes';
import { adminClient, archiveOf, call, follow, followExecution, succeed, upload } from '../harness/session';

let fleet: Fleet;
let client: Client;
let api: ItemsApi;
const TOKEN = 'token-of-the-api-1';

beforeAll(async () => {
  api = await startItemsApi(TOKEN);
  fleet = await startE2eFleet({
    env: {
      BATON_TASK_RETRIES: '0',
      BATON_VALIDATE_RESPONSES: 'true',
      // Operations reach no other program on the machine of their worker.
      BATON_WORKER_EGRESS_ALLOW: `127.0.0.1:${api.port}`,
    },
  });
  client = adminClient(fleet);
  await client.upload('uploadPlugin', { content: builtPlugin('utilities') });
  await call(client, 'putSecret', { secret_key: 'http_api_token' }, { value: TOKEN });
  await upload(client, 'http-api', archiveOf(join(root, 'examples/http-api')));
  const inputs = { api_host: '127.0.0.1', api_port: api.port, api_tls: false };
  await call(client, 'createDeployment', { id: 'items' }, { blueprint_id: 'http-api', inputs });
});
afterAll(async () => {
  await fleet?.stop();
  await api?.stop();
});

const named = (name: string): Record<string, unknown> | undefined =>
  [...api.items.values()].find((item) => item.name === name);
const instances = async (): Promise<{ node_id: string; system_properties: Record<string, unknown> }[]> =>
  (await call(client, 'listNodeInstances', {}, undefined, { deployment_id: 'items' })).items;
/** A deployment update, to its end. */
const update = async (body: object): Promise<void> => {
  const { execution_id } = await call(client, 'initiateDeploymentUpdate', { deployment_id: 'items' }, body);
  const { status, messages } = await followExecution(client, execution_id);
  expect([status, messages.filter((message) => /fail/i.test(message))]).toEqual(['terminated', []]);
};
const driftOf = async (node: string): Promise<unknown> => {
  const found = (await instances()).find(({ node_id: id }) => id === node);
  return (found!.system_properties.configuration_drift as { result: unknown } | null)?.result ?? null;
};

test('install makes the items, and shows the token nowhere', async () => {
  const { messages } = await succeed(client, 'items', 'install');
  expect(named('network')).toMatchObject({ size: 1 });
  expect(named('server')).toMatchObject({ size: 1, parent: named('network')!.id });
  const { outputs } = await call(client, 'getDeploymentOutputs', { id: 'items' });
  expect(outputs.server).toBe(named('server')!.id);
  expect(JSON.stringify(await instances()) + messages.join('\n')).not.toContain(TOKEN);
  await succeed(client, 'items', 'check_status');
  await succeed(client, 'items', 'check_drift');
  expect((await call(client, 'getDeploymentDrift', { id: 'items' })).total).toBe(0);
});

test('a change by somebody else is drift, and an update takes it back', async () => {
  named('server')!.size = 9;
  await succeed(client, 'items', 'check_drift');
  expect(await driftOf('network')).toBeNull();
  expect(await driftOf('server')).toEqual([
    { path: 'expected', stored: { name: 'server', size: 1 }, present: { name: 'server', size: 9 } },
  ]);
  expect((await call(client, 'getDeployment', { id: 'items' })).drifted_instances).toBe(1);
  api.changes.length = 0;
  await update({});
  expect(api.changes).toEqual([`PATCH /items/${named('server')!.id}`]);
  expect(named('server')).toMatchObject({ size: 1 });
  expect(await driftOf('server')).toBeNull();
});

test('an item that somebody deletes is healed', async () => {
  api.items.delete(named('server')!.id as string);
  const { status } = await follow(client, 'items', 'check_status');
  expect(status).toBe('failed');
  await succeed(client, 'items', 'heal');
  expect(named('server')).toMatchObject({ size: 1, parent: named('network')!.id });
  await succeed(client, 'items', 'check_status');
});

test('new inputs change the items in place', async () => {
  const ids = [...api.items.keys()];
  await update({ inputs: { size: 5 } });
  expect([...api.items.values()].map(({ id, size }) => [id, size])).toEqual(ids.map((id) => [id, 5]));
});

test('uninstall deletes the items, the last one first', async () => {
  api.changes.length = 0;
  const [network, last] = [named('network')!.id, named('server')!.id];
  await succeed(client, 'items', 'uninstall');
  expect(api.changes).toEqual([`DELETE /items/${last}`, `DELETE /items/${network}`]);
  expect(api.items.size).toBe(0);
});
