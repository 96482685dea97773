import { principal, startTestDeployments, type TestDeployments } from './testing/test-deployments';

/** GET /deployments/{id}/topology: its contents, the changes of its version, and the callers who may read it. */

let test: TestDeployments;
beforeAll(async () => {
  test = await startTestDeployments();
  test.peers.values.set('token', { value: 'sesame' });
});
afterAll(() => test.stop());

const topology = (id: string, version?: string, as = principal('admin')) =>
  test.call(
    'GET',
    `/deployments/${id}/topology`,
    undefined,
    as,
    version ? { 'if-none-match': `"${version}"` } : {},
  );
const versionOf = async (id: string): Promise<string> => (await topology(id)).body.version;
const instancesOf = async (id: string) =>
  (await test.call('GET', `/node-instances?deployment_id=${id}&_sort=id`)).body.items;

it('shows nodes with counts of their instances, relationships by kind, types and scaling groups', async () => {
  await test.create('held', { blueprint_id: 'contained' });
  const [first] = (await instancesOf('held')).filter((one: { node_id: string }) => one.node_id === 'outer');
  await test.call('PATCH', `/node-instances/${first.id}`, { version: 1, state: 'started' });
  const { status, body } = await topology('held');
  expect([status, body.deployment_id]).toEqual([200, 'held']);
  expect(body.nodes.map(({ id }: { id: string }) => id)).toEqual(['inner', 'db', 'outer']);
  expect(body.nodes[0]).toEqual({
    id: 'inner',
    type: 'cloudify.nodes.Root',
    host_id: null,
    contained_in: 'outer',
    instances: { total: 2, by_state: { uninitialized: 2 } },
    has_drift: false,
  });
  expect(body.nodes[2].instances).toEqual({ total: 2, by_state: { started: 1, uninitialized: 1 } });
  expect(body.edges).toEqual([
    { source: 'inner', target: 'outer', type: 'cloudify.relationships.contained_in', kind: 'contained_in' },
  ]);
  expect(body.types).toEqual({ 'cloudify.nodes.Root': ['cloudify.nodes.Root'] });
  await test.create('linked', { blueprint_id: 'hello', inputs: { must: 1 } });
  const linked = (await topology('linked')).body;
  expect(linked.edges).toMatchObject([{ source: 'app', target: 'host', kind: 'connected_to' }]);
  expect(linked.groups).toEqual([{ id: 'g1', members: ['app'] }]);
  await test.create('typed', { blueprint_id: 'derived' });
  expect((await topology('typed')).body.types['my.Kind']).toEqual(['cloudify.nodes.Root', 'my.Kind']);
  // Properties are not part of the topology.
  expect(JSON.stringify(linked)).not.toContain('properties');
});

it('has another version after each change of an instance, and answers 304 for the present one', async () => {
  await test.create('changing', { blueprint_id: 'hello-flat' });
  const version = await versionOf('changing');
  expect(await topology('changing', version)).toEqual({ status: 304, body: null });
  expect((await topology('changing', 'other')).status).toBe(200);
  const [app] = await instancesOf('changing');
  const edits = [{ nodeInstanceId: app.id, seq: 1, state: 'starting', systemPropertiesJson: '' }];
  const states = [{ tenant: 'default_tenant', deploymentId: 'changing', executionId: 'e', states: edits }];
  await test.rpc.applyExecutionStates({ executions: states });
  const started = await topology('changing', version);
  expect([started.status, started.body.nodes[1].instances.by_state]).toEqual([200, { starting: 1 }]);
  const drift = { ok: true, result: { a: 1 }, task: 't', timestamp: '2026-11-25T12:00:00.000Z' };
  await test.db.pool.query(
    `update node_instances set system_properties = $2, version = version + 1 where id = $1`,
    [app.id, JSON.stringify({ configuration_drift: drift })],
  );
  const drifted = await topology('changing', started.body.version);
  expect(drifted.body.nodes[1].has_drift).toBe(true);
  expect((await topology('changing', drifted.body.version)).status).toBe(304);
});

it('has another version after an update of the model', async () => {
  await test.create('updated', { blueprint_id: 'hello-flat' });
  const before = await versionOf('updated');
  const initiated = await test.call('PUT', '/deployment-updates/updated/update/initiate', {
    blueprint_id: 'hello-next',
  });
  const { id: updateId, execution_id: executionId } = initiated.body;
  for (const call of ['update-prepare', 'update-perform', 'update-finish'])
    await test.rpc.callModel({
      tenant: 'default_tenant',
      deploymentId: 'updated',
      executionId,
      callName: call,
      requestJson: JSON.stringify({ call, updateId }),
    });
  const after = await topology('updated', before);
  expect(after.status).toBe(200);
  expect(after.body.nodes.map(({ id }: { id: string }) => id).sort()).toEqual(['db', 'host']);
});

it('takes two statements, and one when nothing has changed', async () => {
  await test.create('cheap', { blueprint_id: 'hello-flat' });
  const version = await versionOf('cheap');
  const before = test.statements();
  await topology('cheap');
  const whole = test.statements();
  await topology('cheap', version);
  // Each request in a tenant sets the tenant in a statement first.
  const unchanged = test.statements() - whole;
  expect(whole - before).toBe(2 * unchanged);
});

it('stays small: a thousand nodes below 300 KB', async () => {
  await test.create('wide', { blueprint_id: 'pair' });
  await test.db.pool.query(`
    with d as (select key from deployments where id = 'wide')
    insert into nodes (deployment_key, id, position, type, host_id, definition, properties, number_of_instances,
      planned_number_of_instances, deploy_number_of_instances, min_number_of_instances, max_number_of_instances)
    select n.deployment_key, 'application_node_' || i, i, n.type, n.id, n.definition, json_build_object('secret', repeat('x', 1000)),
      1, 1, 1, 1, 1
    from nodes n join d on d.key = n.deployment_key, generate_series(1, 998) i where n.id = 'b'`);
  await test.db.pool.query(`
    insert into node_instances (tenant, id, deployment_key, node_id, index, visibility)
    select 'default_tenant', n.id || '_abcdef', n.deployment_key, n.id, 1, 'tenant'
    from nodes n join deployments d on d.key = n.deployment_key where d.id = 'wide' and n.position > 1`);
  const { body } = await topology('wide');
  expect([body.nodes.length, body.edges.length]).toEqual([1000, 999]);
  expect(JSON.stringify(body).length).toBeLessThan(300_000);
});

it('is there for who may see the deployment, and for nobody else', async () => {
  await test.create('mine', { visibility: 'private' });
  await test.create('shared');
  const bob = principal('bob');
  const stranger = principal('bob', { tenant: 'other', tenants: [{ name: 'other', roles: ['user'] }] });
  const found = async (id: string, as: ReturnType<typeof principal>) => {
    const { status, body } = await topology(id, undefined, as);
    return [status, body.error_code];
  };
  const gone = [404, 'not_found_error'];
  expect(await found('mine', bob)).toEqual(gone);
  expect(await found('shared', bob)).toEqual([200, undefined]);
  expect(await found('shared', stranger)).toEqual(gone);
  for (const id of ['nosuch', '%25', "'%20or%20true--"]) expect(await found(id, bob)).toEqual(gone);
  // A correct guess of the version gives no access.
  expect((await topology('mine', await versionOf('mine'), bob)).status).toBe(404);
  await test.create('everywhere', { blueprint_id: 'global-bp', visibility: 'global' });
  expect(await found('everywhere', stranger)).toEqual([200, undefined]);
});

it('takes no parameters', async () => {
  await test.create('plain');
  const { status, body } = await test.call('GET', '/deployments/plain/topology?at=1');
  expect([status, body.error_code]).toEqual([400, 'bad_parameters_error']);
});
