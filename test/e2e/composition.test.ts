// Services of services: components, shared resources and their dependants, on a complete manager whose only worker has two slots.
import { join } from 'node:path';
import type { Client } from '@baton/client';
import { eventually } from '@baton/testkit';
import { startE2eFleet } from '../harness/e2e';
import type { Fleet } from '../harness/fleet';
import { adminClient, archiveOf, call, follow, followExecution, succeed, upload } from '../harness/session';

let fleet: Fleet;
let client: Client;
const FOLDER = join(__dirname, 'blueprints/composition');

beforeAll(async () => {
  fleet = await startE2eFleet({
    workers: 1,
    env: { BATON_WORKER_SLOTS: '2', BATON_VALIDATE_RESPONSES: 'true' },
  });
  client = adminClient(fleet);
  await upload(client, 'child', archiveOf(join(FOLDER, 'parts/child')));
  for (const name of ['parent', 'many', 'consumer', 'everything', 'abroad']) await uploadPart(name);
});
beforeEach(async () => await childIs('good'));
afterAll(async () => await fleet?.stop());

/** Makes the leaf of child blueprints start, fail, or run slowly. */
const childIs = (value: 'good' | 'bad' | 'slow') =>
  call(client, 'putSecret', { secret_key: 'child_state' }, { value, update_if_exists: true });

const uploadPart = (name: string) =>
  client.upload('uploadBlueprint', {
    params: { blueprint_id: name },
    query: { application_file_name: `${name}.yaml` },
    content: archiveOf(FOLDER),
  });

const deploy = (id: string, blueprint_id: string, inputs: object = {}) =>
  call(client, 'createDeployment', { id }, { blueprint_id, inputs });

const run = (id: string, workflow: string, parameters?: object) => succeed(client, id, workflow, parameters);

const deploymentIds = async (query: object = {}): Promise<string[]> => {
  const { items } = await call(client, 'listDeployments', {}, undefined, { _include: 'id', ...query });
  return items.map(({ id }: { id: string }) => id).sort();
};

const instancesOf = async (deployment_id: string) =>
  (await call(client, 'listNodeInstances', {}, undefined, { deployment_id })).items;

const runtimeOf = async (id: string, node: string) =>
  (await instancesOf(id)).find((one: { node_id: string }) => one.node_id === node).runtime_properties;

async function failed(id: string, workflow: string, reason: string): Promise<string> {
  const done = await follow(client, id, workflow);
  expect(done.status).toBe('failed');
  expect(done.messages.join('\n')).toContain(reason);
  return done.id;
}

const dependenciesOf = async (source_deployment_id: string): Promise<string[]> => {
  const query = { source_deployment_id };
  const { items } = await call(client, 'listInterDeploymentDependencies', {}, undefined, query);
  return items.map((item: { dependency_creator: string }) => item.dependency_creator.split('.')[0]).sort();
};

const removed = async (...ids: string[]): Promise<void> => {
  for (const id of ids) await call(client, 'deleteDeployment', { id });
  await eventually(async () => {
    const left = await deploymentIds();
    expect(left.filter((id) => ids.includes(id))).toEqual([]);
  });
};

test('a component is installed, checked, updated, shows its capabilities, and goes with its parent', async () => {
  await deploy('family', 'parent');
  const { messages } = await run('family', 'install');
  const [part] = await instancesOf('family');
  expect(part.runtime_properties).toMatchObject({
    deployment: { id: part.id },
    capabilities: { color: 'green' },
  });
  const child = await call(client, 'getDeployment', { id: part.id });
  expect(child).toMatchObject({
    blueprint_id: 'child',
    inputs: { color: 'green' },
    installation_status: 'active',
  });
  expect(child.labels).toContainEqual(expect.objectContaining({ key: 'csys-obj-parent', value: 'family' }));
  expect(messages.filter((line) => line.endsWith('the leaf starts'))).toEqual([
    expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z \[leaf_\w+\.start\] the leaf starts$/),
  ]);

  await run('family', 'check_status');
  await run('family', 'check_drift');
  expect((await instancesOf('family'))[0].system_properties).toMatchObject({
    status: { ok: true },
    configuration_drift: { ok: true, result: null },
  });

  const body = { inputs: { color: 'blue' } };
  const update = await call(client, 'initiateDeploymentUpdate', { deployment_id: 'family' }, body);
  expect(await followExecution(client, update.execution_id)).toMatchObject({ status: 'terminated' });
  expect(await call(client, 'getDeployment', { id: part.id })).toMatchObject({ inputs: { color: 'blue' } });
  await run('family', 'execute_operation', { operation: 'cloudify.interfaces.lifecycle.refresh' });
  expect(await call(client, 'getDeploymentCapabilities', { id: 'family' })).toMatchObject({
    capabilities: { color: 'blue' },
  });

  await run('family', 'uninstall');
  expect(await deploymentIds()).toEqual(['family']);
  await removed('family');
});

test('three levels: installed from the inside, uninstalled from the outside, nothing is left', async () => {
  await deploy('outer', 'parent', { blueprint: 'parent', color: 'red' });
  // The deployment in the middle has an input of this name as well.
  await run('outer', 'install');
  expect(await deploymentIds({ blueprint_id: 'child' })).toHaveLength(1);
  expect(await runtimeOf('outer', 'part')).toMatchObject({ capabilities: { color: 'red' } });
  await run('outer', 'uninstall');
  expect(await deploymentIds()).toEqual(['outer']);
  await removed('outer');
});

test('ten components on two places: nobody waits in a place; blueprints come along, ids are counted up', async () => {
  await deploy('many', 'many');
  await run('many', 'install');
  const ids = Array.from({ length: 10 }, (_, i) => `twin-${i}`);
  expect(await deploymentIds({ blueprint_id: 'brought-along', installation_status: 'active' })).toEqual(ids);
  await run('many', 'uninstall');
  expect(await deploymentIds()).toEqual(['many']);
  const { items } = await call(client, 'listBlueprints', {}, undefined, { id: 'brought-along' });
  expect(items).toEqual([]);
  await removed('many');
});

test('an external blueprint that is missing fails the install and says so', async () => {
  await deploy('lost', 'parent', { blueprint: 'nosuch' });
  await failed(
    'lost',
    'install',
    'Error in upload_blueprint: Blueprint ID "nosuch" does not exist on tenant "default_tenant", but external_resource is true.',
  );
  await call(client, 'deleteDeployment', { id: 'lost' }, undefined, { force: true });
});

test('a component that fails fails its parent; after a resume of the parent both succeed', async () => {
  await childIs('bad');
  await deploy('unlucky', 'parent');
  const id = await failed('unlucky', 'install', 'Error in execute_start: Execution');
  await childIs('good');
  await call(client, 'actOnExecution', { executionId: id }, { action: 'resume' });
  expect(await followExecution(client, id)).toMatchObject({ status: 'terminated' });
  expect(await runtimeOf('unlucky', 'part')).toMatchObject({ capabilities: { color: 'green' } });
  await run('unlucky', 'uninstall');
  expect(await deploymentIds()).toEqual(['unlucky']);
  await removed('unlucky');
});

test('a parent whose component failed is taken apart by a plain uninstall', async () => {
  await childIs('bad');
  await deploy('unlucky', 'parent');
  await failed('unlucky', 'install', 'Error in execute_start: Execution');
  await childIs('good');
  await run('unlucky', 'uninstall');
  expect(await deploymentIds()).toEqual(['unlucky']);
  await removed('unlucky');
});

test('a shared resource on demand is there from its first consumer to its last', async () => {
  await call(
    client,
    'createDeployment',
    { id: 'common' },
    { blueprint_id: 'child', labels: [{ 'csys-obj-type': 'on-demand-resource' }] },
  );
  const common = async () => {
    const { installation_status, labels } = await call(client, 'getDeployment', { id: 'common' });
    const consumers = labels.filter(({ key }: { key: string }) => key === 'csys-consumer-id');
    return [installation_status, ...consumers.map(({ value }: { value: string }) => value).sort()];
  };
  for (const id of ['one', 'two']) await deploy(id, 'consumer', { resource: 'common' });
  await Promise.all([run('one', 'install'), run('two', 'install')]);
  expect(await common()).toEqual(['active', 'one', 'two']);
  expect(await runtimeOf('one', 'used')).toMatchObject({ capabilities: { color: 'red' } });
  await run('one', 'uninstall');
  expect(await common()).toEqual(['active', 'two']);
  await run('two', 'uninstall');
  expect(await common()).toEqual(['inactive']);
  await removed('one', 'two');
});

test('a workflow that the shared deployment does not have fails the relationship to it', async () => {
  await run('common', 'install');
  await deploy('stranger', 'consumer', { resource: 'common', workflow: 'nosuch' });
  await failed('stranger', 'install', 'Error in execute_workflow:');
  await call(client, 'deleteDeployment', { id: 'stranger' }, undefined, { force: true });
  await deploy('nobody', 'consumer', { resource: 'nosuch' });
  await failed('nobody', 'install', 'deployment ID "nosuch" does not exist on tenant "default_tenant"');
  await call(client, 'deleteDeployment', { id: 'nobody' }, undefined, { force: true });
});

test('dependencies are those of what is there; blueprints, secrets and passwords come and go', async () => {
  await deploy('all', 'everything');
  await run('all', 'install');
  expect(await dependenciesOf('all')).toEqual([
    'capabilities',
    'component',
    'component',
    'component',
    'nodes',
    'sharedresource',
  ]);
  const { secret_name, password } = await runtimeOf('all', 'password');
  expect(password).toEqual({ get_secret: secret_name });
  const secret = (key: string) => call(client, 'getSecret', { secret_key: key });
  expect((await secret(secret_name)).value).toMatch(/^\d{12}$/);
  expect((await secret('part_key')).value).toBe('hidden');
  expect((await call(client, 'getBlueprint', { blueprint_id: 'carried' })).labels).toEqual([
    expect.objectContaining({ key: 'carried', value: 'yes' }),
  ]);
  await run('all', 'uninstall');
  expect(await dependenciesOf('all')).toEqual(['capabilities', 'nodes']);
  for (const key of [secret_name, 'part_key'])
    await expect(secret(key)).rejects.toMatchObject({ status: 404 });
  await expect(call(client, 'getBlueprint', { blueprint_id: 'carried' })).rejects.toMatchObject({
    status: 404,
  });
  await removed('all');
  const { items } = await call(client, 'listInterDeploymentDependencies', {});
  expect(items).toEqual([]);
});

test('a cancel goes down three levels, a resume brings all of them to their end', async () => {
  await childIs('slow');
  await deploy('top', 'parent', { blueprint: 'parent', color: 'red' });
  const top = await call(client, 'startExecution', {}, { deployment_id: 'top', workflow_id: 'install' });
  const installs = async (): Promise<string[]> => {
    const { items } = await call(client, 'listExecutions', {}, undefined, {
      workflow_id: 'install',
      status: ['started', 'cancelled', 'terminated'],
      _sort: '-created_at',
      _size: 3,
    });
    return items.map(({ status }: { status: string }) => status);
  };
  const statesOfLeaf = async (): Promise<string[]> => {
    const { items } = await call(client, 'listNodeInstances', {}, undefined, { node_id: 'leaf' });
    return items.map(({ state }: { state: string }) => state);
  };
  await eventually(async () => expect(await statesOfLeaf()).toContain('starting'), { deadlineMs: 30_000 });
  await call(client, 'actOnExecution', { executionId: top.id }, { action: 'kill' });
  await eventually(async () => expect(await installs()).toEqual(['cancelled', 'cancelled', 'cancelled']), {
    deadlineMs: 30_000,
  });
  await childIs('good');
  await call(client, 'actOnExecution', { executionId: top.id }, { action: 'resume' });
  expect(await followExecution(client, top.id)).toMatchObject({ status: 'terminated' });
  expect(await installs()).toEqual(['terminated', 'terminated', 'terminated']);
  expect(await runtimeOf('top', 'part')).toMatchObject({ capabilities: { color: 'red' } });
  await run('top', 'uninstall');
  expect(await deploymentIds()).toEqual(['common', 'top']);
  await removed('top');
});

test('a component may be on another manager or in another tenant; its credentials are not shown', async () => {
  await call(client, 'createTenant', { name: 'abroad' });
  const secret = { secret_key: 'abroad_password' };
  await call(client, 'putSecret', secret, { value: fleet.adminPassword });
  const tenant = { tenant: 'abroad' };
  await client.call('putSecret', {
    params: { secret_key: 'child_state' },
    body: { value: 'good' },
    ...tenant,
  });
  await deploy('home', 'abroad', { port: Number(new URL(fleet.baseUrl).port) });
  await run('home', 'install');
  expect(await runtimeOf('home', 'part')).toMatchObject({
    deployment: { id: 'far' },
    capabilities: { color: 'red' },
  });
  const far = await client.call('getDeployment', { params: { id: 'far' }, ...tenant });
  expect(far.labels.map(({ key, value }) => ({ key, value }))).toEqual([{ key: 'kept', value: 'yes' }]);
  const { items } = await call(client, 'listInterDeploymentDependencies', {});
  expect(items).toEqual([
    expect.objectContaining({ source_deployment_id: 'home', target_deployment_id: null }),
  ]);
  expect(items[0].external_target).toEqual({
    deployment: 'far',
    client_config: { host: '127.0.0.1', port: Number(new URL(fleet.baseUrl).port), tenant: 'abroad' },
  });
  await run('home', 'uninstall');
  for (const list of ['listDeployments', 'listInterDeploymentDependencies', 'listBlueprints'] as const)
    expect((await client.call(list, tenant)).items).toEqual([]);
  await removed('home');
});
