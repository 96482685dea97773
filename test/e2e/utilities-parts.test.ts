// The parts of plugins/utilities that need a manager: relationships, secrets and workflows.
import { join } from 'node:path';
import type { Client } from '@baton/client';
import { startE2eFleet } from '../harness/e2e';
import { builtPlugin } from '../harness/example';
import type { Fleet } from '../harness/fleet';
import { adminClient, archiveOf, call, follow, succeed, upload } from '../harness/session';

let fleet: Fleet;
let client: Client;
const SECRET = 'secret-of-the-test';

beforeAll(async () => {
  fleet = await startE2eFleet({
    env: { BATON_TASK_RETRIES: '0', BATON_VALIDATE_RESPONSES: 'true' },
  });
  client = adminClient(fleet);
  await client.upload('uploadPlugin', { content: builtPlugin('utilities') });
  for (const name of ['tiny', 'parts', 'pools', 'shared'])
    await upload(client, name, archiveOf(join(__dirname, `blueprints/utilities-${name}`)));
  await call(client, 'createDeployment', { id: 'parts' }, { blueprint_id: 'parts' });
});
afterAll(async () => await fleet?.stop());

interface Instance {
  id: string;
  node_id: string;
  state: string;
  // biome-ignore lint/suspicious/noExplicitAny: the test says what it expects.
  runtime_properties: any;
}
const instances = async (node: string, deployment_id = 'parts'): Promise<Instance[]> => {
  const { items } = await call(client, 'listNodeInstances', {}, undefined, { deployment_id });
  return items.filter((one: Instance) => one.node_id === node);
};
const one = async (node: string, deployment?: string): Promise<Instance> =>
  (await instances(node, deployment))[0]!;
/** Operations that the log tells of, as `node operation`. */
const logged = (messages: readonly string[]): string[] =>
  messages.filter((line) => line.startsWith('Log interface: '));

test('install: configurations are handed on, items reserved, secrets written and read, a proxy has outputs', async () => {
  const { messages } = await succeed(client, 'parts', 'install');
  expect((await one('router')).runtime_properties.params).toEqual({
    speed: 1,
    mtu: 1500,
    name: 'r1',
    old_params: { old_params: {} },
    diff_params: ['speed', 'mtu', 'name'],
  });
  const reserved = (await instances('address')).map(
    ({ runtime_properties }) => runtime_properties.reservation,
  );
  expect(new Set(reserved).size).toBe(2);
  expect((await one('pool')).runtime_properties.free_resources).toHaveLength(1);
  const { outputs } = await call(client, 'getDeploymentOutputs', { id: 'parts' });
  expect(outputs).toEqual({ token: SECRET, of: 'parts' });
  const shown = [messages, (await one('read')).runtime_properties, (await one('written')).runtime_properties];
  expect(JSON.stringify(shown)).not.toContain(SECRET);
  expect((await one('file', 'tiny-of-parts')).state).toBe('started');
});

test('suspend runs on all that do not skip it; backup prepares services before machines', async () => {
  const { messages } = await succeed(client, 'parts', 'suspend');
  const { id } = await one('machine');
  const begun = messages.filter((line) => line.startsWith('Starting to'));
  expect(begun).toEqual(Array(2).fill('Starting to cloudify.interfaces.freeze.suspend'));
  const backup = await succeed(client, 'parts', 'backup', { snapshot_name: 'nightly' });
  expect(backup.messages.filter((line) => /^Starting to|^The backup/.test(line))).toEqual([
    ...Array(3).fill('Starting to cloudify.interfaces.freeze.fs_prepare'),
    ...Array(3).fill('Starting to cloudify.interfaces.snapshot.create'),
    ...Array(3).fill('Starting to cloudify.interfaces.freeze.fs_finalize'),
    'The backup nightly is made',
  ]);
  expect(logged(backup.messages)[0]).toContain('"snapshot_name":"nightly"');
  expect(id).toMatch(/^machine_/);
  const nameless = await follow(client, 'parts', 'restore', { force: true });
  expect(nameless.error).toContain('Backup name must be provided.');
});

test('configuration_update gives nodes the new parameters, and updates those that use them', async () => {
  const parameters = { params: { speed: 2 }, node_types_to_update: ['test.nodes.Router'] };
  const { messages } = await succeed(client, 'parts', 'configuration_update', parameters);
  expect((await one('router')).runtime_properties.params).toMatchObject({
    speed: 2,
    mtu: 1500,
    diff_params: ['speed'],
  });
  expect(logged(messages)).toHaveLength(2);
  const others = { params: { other: false }, node_types_to_update: ['test.nodes.Router'] };
  expect(logged((await succeed(client, 'parts', 'configuration_update', others)).messages)).toEqual([]);
});

test('a custom workflow of the blueprint runs operations in its order', async () => {
  const { messages } = await succeed(client, 'parts', 'flat');
  expect(
    messages.filter((line) => line.startsWith('Starting to')).map((line) => line.split(' of node ')[1]),
  ).toEqual(['service', 'machine']);
  expect(logged(messages)).toEqual(Array(2).fill('Log interface: {"word":"hello"}'));
});

test('scaleuplist gives new instances properties; operations and scaledownlist find them by these', async () => {
  const branches = [{ color: 'red' }, { color: 'blue' }];
  await succeed(client, 'parts', 'scaleuplist', { scalable_entity_properties: { branch: branches } });
  const colors = async () =>
    (await instances('branch')).map(({ runtime_properties: { color } }) => color ?? null);
  expect(new Set(await colors())).toEqual(new Set(['blue', 'red', null]));
  const [red] = (await instances('branch')).filter(({ runtime_properties: { color } }) => color === 'red');
  expect(red).toMatchObject({
    state: 'started',
    runtime_properties: { _transaction_id: expect.any(String) },
  });

  const filtered = await succeed(client, 'parts', 'update_operation_filtered', {
    node_field: 'color',
    node_field_value: ['red', 'blue'],
    operation_kwargs: { word: 'x' },
  });
  expect(logged(filtered.messages)).toHaveLength(2);

  // Both were made together: the value of one finds the other too.
  await succeed(client, 'parts', 'scaledownlist', {
    scale_node_field: 'color',
    scale_node_field_value: 'red',
  });
  expect(await colors()).toEqual([null]);
});

test('a failed scale-out is taken back', async () => {
  const scale = async (scalable_entity_properties: object, more: object = {}) =>
    await follow(client, 'parts', 'scaleuplist', { parameters: { scalable_entity_properties, ...more } });
  expect((await scale({ none: [{}] })).error).toContain('there is no scaling group and no node none');
  const failing = { fragile: [{ resource_config: { allow_failure: false } }] };
  const { status, messages } = await scale(failing);
  expect([status, messages.includes('Scale out failed, scaling back in.')]).toEqual(['failed', true]);
  expect(await instances('fragile')).toHaveLength(1);
  expect((await scale(failing, { rollback_on_failure: false })).status).toBe('failed');
  expect(await instances('fragile')).toHaveLength(2);
  const { items } = await call(client, 'listDeploymentModifications', {}, undefined, {
    deployment_id: 'parts',
  });
  const statuses = items.map(({ status: one }: { status: string }) => one);
  expect(statuses).toEqual(['finished', 'finished', 'rolledback', 'finished']);
  await succeed(client, 'parts', 'scaledownlist', {
    scale_node_field: ['resource_config', 'allow_failure'],
    scale_node_field_value: [false],
    ignore_failure: true,
  });
  expect(await instances('fragile')).toHaveLength(1);
});

test('a file outside of what the isolation shows is refused with a reason', async () => {
  for (const [id, path] of [
    ['outside', '/etc/of-tiny'],
    ['owned', '/tmp/of-tiny'],
  ] as const) {
    const inputs = { deployment: 'x', is_optional: false, resource: 'blueprint.yaml', path };
    await call(client, 'createDeployment', { id }, { blueprint_id: 'tiny', inputs });
    const { error } = await follow(client, id, 'install');
    expect(error).toContain(`the plugin may not write ${path} for root`);
    expect(error).toContain('operations are isolated from the machine of the worker');
  }
});

test('alt_stop runs one operation of the lifecycle', async () => {
  const { messages } = await succeed(client, 'parts', 'alt_stop', {
    node_ids: ['branch'],
    operation_parms: { x: 1 },
  });
  expect(logged(messages)).toHaveLength(1);
  expect(logged(messages)[0]).toContain('"x":1');
});

test('rollback_deprecated takes back what a failed install has begun', async () => {
  const inputs = { deployment: 'x', is_optional: false };
  await call(client, 'createDeployment', { id: 'broken' }, { blueprint_id: 'tiny', inputs });
  expect((await follow(client, 'broken', 'install')).status).toBe('failed');
  expect((await one('file', 'broken')).state).toBe('creating');
  const { messages } = await succeed(client, 'broken', 'rollback_deprecated', {});
  expect((await one('file', 'broken')).state).toBe('uninitialized');
  expect(messages).toContain('Rollbacked node instance');
});

test('batch_deploy_and_install makes a group with a deployment for each parent', async () => {
  await call(
    client,
    'createDeployment',
    { id: 'batch' },
    { blueprint_id: 'tiny', inputs: { deployment: 'x' } },
  );
  await succeed(client, 'batch', 'batch_deploy_and_install', {
    blueprint_id: 'tiny',
    parent_deployments: ['broken', 'batch'],
    group_id: 'tinies',
    add_parent_labels: true,
  });
  const group = await call(client, 'getDeploymentGroup', { id: 'tinies' }, undefined, { _get_data: true });
  expect(group.deployment_ids.sort()).toEqual(['tinies-0', 'tinies-1']);
  const made = await call(client, 'getDeployment', { id: 'tinies-1' });
  expect([made.inputs.deployment, made.labels[0]]).toEqual([
    'batch',
    expect.objectContaining({ key: 'csys-obj-parent', value: 'batch' }),
  ]);
  const { items } = await call(client, 'listExecutionGroups', {}, undefined, {
    deployment_group_id: 'tinies',
  });
  expect(items.map(({ workflow_id }: { workflow_id: string }) => workflow_id)).toContain('install');
});

test('a hook runs a workflow of the deployment that its event tells of, unless the filter stops it', async () => {
  const event = (filter_by: object[]) => ({
    inputs: { deployment_id: 'tiny-of-parts', workflow_id: 'install' },
    workflow_for_run: 'check_status',
    filter_by,
  });
  const skipped = await succeed(
    client,
    'batch',
    'hook_workflow_run_filtered',
    event([{ path: ['workflow_id'], values: ['x'] }]),
  );
  expect(skipped.messages).toContain('The event is skipped: workflow_id is none of the values of the rule');
  const path = ['deployment_inputs', 'deployment'];
  await succeed(client, 'batch', 'hook_workflow_run_filtered', event([{ path, values: ['parts'] }]));
  const { items } = await call(client, 'listExecutions', {}, undefined, {
    deployment_id: 'tiny-of-parts',
    workflow_id: 'check_status',
  });
  expect(items).toHaveLength(1);
});

test('an item of a list in another deployment is reserved by an execution there', async () => {
  for (const id of ['pools', 'shared', 'late']) {
    await call(client, 'createDeployment', { id }, { blueprint_id: id === 'pools' ? 'pools' : 'shared' });
    if (id !== 'late') await succeed(client, id, 'install');
  }
  const { id, runtime_properties } = await one('address', 'shared');
  expect(runtime_properties.reservation).toBe('10.1.0.1');
  const list = async () => (await one('addresses', 'pools')).runtime_properties;
  expect(await list()).toMatchObject({ free_resources: [], reservations: { [id]: '10.1.0.1' } });
  const late = await follow(client, 'late', 'install');
  expect(late.error).toContain('no item of the list is free');
  await succeed(client, 'shared', 'uninstall');
  expect(await list()).toMatchObject({ free_resources: ['10.1.0.1'], reservations: {} });
});

test('uninstall gives items back and removes secrets and the proxy', async () => {
  await succeed(client, 'parts', 'uninstall');
  expect((await call(client, 'listSecrets', {})).items).toEqual([]);
  const { items } = await call(client, 'listDeployments', {});
  expect(items.map(({ id }: { id: string }) => id)).not.toContain('tiny-of-parts');
});
