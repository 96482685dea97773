// Workflows that start other workflows and wait for them, on a complete manager with one slot for operations.
import { join } from 'node:path';
import type { Client } from '@baton/client';
import { eventually } from '@baton/testkit';
import { startE2eFleet } from '../harness/e2e';
import type { Fleet } from '../harness/fleet';
import { adminClient, archiveOf, call, follow, followExecution, upload } from '../harness/session';

let fleet: Fleet;
let client: Client;

beforeAll(async () => {
  fleet = await startE2eFleet({
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

describe('system workflows', () => {
  const start = (workflow_id: string, more: object = {}) =>
    call(client, 'startExecution', {}, { deployment_id: 'guarded', workflow_id, ...more });

  const colorOf = async (id: string) =>
    (await call(client, 'getDeploymentCapabilities', { id })).capabilities.color;

  beforeAll(async () => {
    await installed('guarded');
  });

  test.each([
    ['delete_deployment_environment', 'DELETE /deployments/{id}'],
    ['create_deployment_environment', 'PUT /deployments/{id}'],
    ['update', 'PUT /deployment-updates/{deployment_id}/update/initiate'],
    ['csys_new_deployment_update', 'PUT /deployment-updates/{deployment_id}/update/initiate'],
    ['create_snapshot', 'PUT /snapshots/{id}'],
    ['restore_snapshot', 'POST /snapshots/{id}/restore'],
    ['uninstall_plugin', 'DELETE /plugins/{id}'],
    ['update_plugin', 'PUT /plugins-updates/{blueprint_id}/update/initiate'],
    ['upload_blueprint', 'PUT /blueprints/{id}'],
    ['create_log_bundle', 'PUT /log-bundles/{id}'],
  ])(
    '%s is refused in every way to start by a name; the answer says what starts it',
    async (workflow, request) => {
      const refused = { status: 400, details: { field: 'workflow_id', expected: request } };
      for (const more of [
        {},
        { force: true, is_system_workflow: true },
        { deployment_id: '' },
        { deployment_id: '', is_system_workflow: true, queue: true },
      ])
        await expect(start(workflow, more)).rejects.toMatchObject(refused);
      await call(client, 'putDeploymentGroup', { id: 'guards' }, { deployment_ids: ['guarded'] });
      await expect(
        call(client, 'createExecutionGroup', {}, { deployment_group_id: 'guards', workflow_id: workflow }),
      ).rejects.toMatchObject({ status: 400 });
      await expect(
        call(
          client,
          'createExecutionSchedule',
          { schedule_id: 'never' },
          {
            deployment_id: 'guarded',
            workflow_id: workflow,
            since: '2099-01-01 00:00:00',
            recurrence: '1 day',
          },
          { deployment_id: 'guarded' },
        ),
      ).rejects.toMatchObject(refused);
      expect(await statesOf('guarded')).toEqual(['started']);
    },
  );

  test('an update cannot be made to delete its deployment: nothing of it is applied', async () => {
    const update = await call(
      client,
      'initiateDeploymentUpdate',
      { deployment_id: 'guarded' },
      { workflow_id: 'delete_deployment_environment', inputs: { color: 'white' } },
    );
    expect(await followExecution(client, update.execution_id)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining(
        'delete_deployment_environment, which is to carry out the update, does not exist',
      ),
    });
    expect(await colorOf('guarded')).toBe('red');
    expect(await statesOf('guarded')).toEqual(['started']);
  });

  test('csys_update_deployment updates the deployment, alone and as a group', async () => {
    const parameters = { inputs: { color: 'green' }, skip_drift_check: true };
    const single = await start('csys_update_deployment', { parameters });
    expect(await followExecution(client, single.id)).toMatchObject({ status: 'terminated', error: '' });
    expect(await colorOf('guarded')).toBe('green');
    const { items } = await call(client, 'listDeploymentUpdates', {}, undefined, {
      id: `guarded-${single.id}`,
    });
    expect(items).toEqual([expect.objectContaining({ state: 'successful', new_inputs: { color: 'green' } })]);

    await installed('second');
    await call(client, 'putDeploymentGroup', { id: 'both' }, { deployment_ids: ['guarded', 'second'] });
    const group = await call(
      client,
      'createExecutionGroup',
      {},
      {
        deployment_group_id: 'both',
        workflow_id: 'csys_update_deployment',
        default_parameters: { inputs: { color: 'blue' } },
      },
    );
    await eventually(
      async () =>
        expect((await call(client, 'getExecutionGroup', { id: group.id })).status).toBe('terminated'),
      { deadlineMs: 30_000 },
    );
    expect([await colorOf('guarded'), await colorOf('second')]).toEqual(['blue', 'blue']);
  });

  test('csys_update_deployment refuses parameters that no update has, and ends as its update ends', async () => {
    await expect(start('csys_update_deployment', { parameters: { imputs: {} } })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('imputs'),
    });
    const { id } = await start('csys_update_deployment', { parameters: { blueprint_id: 'nosuch' } });
    expect(await followExecution(client, id)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('nosuch'),
    });
  });
});
