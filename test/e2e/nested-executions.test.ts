// Workflows that start others and wait for them, on a whole manager with one place for operations.
import { join } from 'node:path';
import type { Client } from '@baton/client';
import { eventually } from '@baton/testkit';
import { type Fleet, startFleet } from '../harness/fleet';
import { adminClient, archiveOf, call, follow, followExecution, upload } from '../harness/session';

let fleet: Fleet;
let client: Client;

beforeAll(async () => {
  fleet = await startFleet({
    mode: (process.env.BATON_E2E_MODE ?? 'standalone') as Fleet['mode'],
    workers: 1,
    env: { BATON_WORKER_SLOTS: '1', BATON_VALIDATE_RESPONSES: 'true' },
  });
  client = adminClient(fleet);
  await upload(client, 'family', archiveOf(join(__dirname, 'blueprints/family')));
});
afterAll(async () => await fleet?.stop());

async function installed(id: string, parent?: string): Promise<void> {
  const labels = parent ? [{ 'csys-obj-parent': parent }] : [];
  await call(client, 'createDeployment', { id }, { blueprint_id: 'family', labels });
  expect((await follow(client, id, 'install')).error).toBeFalsy();
}

const statesOf = async (id: string): Promise<string[]> => {
  const { items } = await call(client, 'listNodeInstances', {}, undefined, { deployment_id: id });
  return items.map((item: { state: string }) => item.state);
};

test('a recursive uninstall takes the services below along, innermost first; a plain one is refused', async () => {
  await installed('env');
  await installed('service', 'env');
  await installed('inner', 'service');
  await expect(follow(client, 'env', 'uninstall')).rejects.toThrow('existing installations depend on it');
  const run = await follow(client, 'env', 'uninstall', { parameters: { recursive: true } });
  expect(run).toMatchObject({ status: 'terminated' });
  for (const id of ['env', 'service', 'inner']) expect(await statesOf(id)).toEqual(['deleted']);
  const { items } = await call(client, 'listExecutions', {}, undefined, { workflow_id: 'uninstall' });
  const ended = new Map(
    items.map((item: { deployment_id: string; ended_at: string }) => [item.deployment_id, item.ended_at]),
  );
  expect([...ended.keys()].sort()).toEqual(['env', 'inner', 'service']);
  const order = ['inner', 'service', 'env'].map((id) => Date.parse(ended.get(id) as string));
  expect(order).toEqual([...order].sort((a, b) => a - b));
});

test('an update with a workflow of its own runs that one, and ends when it has ended', async () => {
  await installed('updated');
  const update = await call(
    client,
    'initiateDeploymentUpdate',
    { deployment_id: 'updated' },
    { inputs: { color: 'blue' }, workflow_id: 'restart' },
  );
  const run = await followExecution(client, update.execution_id);
  expect(run).toMatchObject({ status: 'terminated', error: '' });
  const { items } = await call(client, 'listExecutions', {}, undefined, {
    deployment_id: 'updated',
    workflow_id: 'restart',
  });
  expect(items).toEqual([expect.objectContaining({ status: 'terminated' })]);
  expect(items[0].parameters).toMatchObject({ update_id: update.id, added_instance_ids: [] });
  await eventually(async () => {
    const after = await call(client, 'getDeploymentUpdate', { update_id: update.id });
    expect(after.state).toBe('successful');
  });
});
