import { startTestDeployments, type TestDeployments } from './testing/test-deployments';

let test: TestDeployments;
const tenant = 'default_tenant';
beforeAll(async () => {
  test = await startTestDeployments();
});
afterAll(() => test.stop());

const initiate = (id: string, body: object, method = 'PUT') =>
  test.call(method, `/deployment-updates/${id}/update/initiate`, body);
const read = async (id: string) => (await test.call('GET', `/deployment-updates/${id}`)).body;
const call = async (
  deploymentId: string,
  executionId: string,
  request: { call: string; updateId: string },
) => {
  const requestJson = JSON.stringify(request);
  const { resultJson } = await test.rpc.callModel({
    tenant,
    deploymentId,
    executionId,
    callName: request.call,
    requestJson,
  });
  return JSON.parse(resultJson);
};
const nodeIds = async (id: string, resource: string, field: string) =>
  (await test.call('GET', `/${resource}?deployment_id=${id}`)).body.items
    .map((one: Record<string, string>) => one[field])
    .sort();

it('stores an update and starts its workflow, merging the inputs', async () => {
  await test.create('start', { blueprint_id: 'hello-flat' });
  const { status, body } = await initiate(
    'start',
    { inputs: { greeting: 'hi' }, skip_install: true, reinstall_list: ['x'] },
    'POST',
  );
  expect(status).toBe(200);
  expect(body).toMatchObject({
    state: 'updating',
    deployment_id: 'start',
    old_blueprint_id: 'hello-flat',
    new_blueprint_id: 'hello-flat',
    old_inputs: { greeting: 'hello', gone: 1 },
    new_inputs: { greeting: 'hi', gone: 1 },
    steps: [],
  });
  const started = test.peers.started.at(-1)!;
  expect(started).toMatchObject({ workflowId: 'update', force: true, deploymentId: 'start' });
  expect(JSON.parse(started.parametersJson)).toMatchObject({
    update_id: body.id,
    skip_install: true,
    skip_heal: false,
    update_plugins: true,
    reinstall_list: ['x'],
  });
  expect(body.execution_id).toMatch(/^execution-/);
  const list = await test.call('GET', '/deployment-updates?deployment_id=start&_include=id,state');
  expect(list.body.items).toEqual([{ id: body.id, state: 'updating' }]);
  const finalize = (id: string) => test.call('POST', `/deployment-updates/${id}/update/finalize`);
  // Only the workflow of the update ends it.
  expect((await finalize(body.id)).body).toMatchObject({ id: body.id, state: 'updating' });
  expect((await finalize('nosuch')).status).toBe(404);
});

it('v2.1 has updates too, in the same form', async () => {
  await test.create('older', { blueprint_id: 'hello-flat' });
  const path = '/api/v2.1/deployment-updates';
  const { status, body } = await test.call('POST', `${path}/older/update/initiate`, { skip_install: true });
  expect([status, body.state]).toEqual([200, 'updating']);
  expect((await test.call('GET', `${path}/${body.id}`)).body).toEqual(await read(body.id));
  expect((await test.call('GET', `${path}?deployment_id=older&_include=id`)).body.items).toEqual([
    { id: body.id },
  ]);
});

it('refuses what does not exist or has the wrong form', async () => {
  await test.create('refuse', { blueprint_id: 'hello-flat' });
  const codes = [
    await initiate('nowhere', {}),
    await initiate('refuse', { blueprint_id: 'nothing' }),
    await initiate('refuse', { inputs: [] }),
    await initiate('refuse', { reinstall_list: 'a' }),
  ].map((answer) => answer.status);
  expect(codes).toEqual([404, 404, 400, 400]);
});

it('stores a failed update when others depend on the deployment, unless forced', async () => {
  await test.create('env', { blueprint_id: 'hello-flat' });
  await test.create('child', { labels: [{ 'csys-obj-parent': 'env' }] });
  const refused = await initiate('env', {});
  expect([refused.status, refused.body.error_code]).toEqual([400, 'dependent_exists_error']);
  const { items } = (await test.call('GET', '/deployment-updates?deployment_id=env')).body;
  expect(items.map((one: { state: string }) => one.state)).toEqual(['failed']);
  expect((await initiate('env', { force: true })).status).toBe(200);
});

it('carries an update out in three calls, each of which may be repeated', async () => {
  await test.create('up', { blueprint_id: 'hello-flat' });
  const { id, execution_id } = (await initiate('up', { blueprint_id: 'hello-next' })).body;
  const prepare = { call: 'update-prepare', updateId: id };
  expect(await call('up', execution_id, prepare)).toEqual({ unsupported: [] });
  const { steps, new_inputs } = await read(id);
  const texts = steps.map((s: { action: string; entity_id: string[] }) => `${s.action} ${s.entity_id}`);
  expect(texts).toEqual([
    'remove nodes,app',
    'add nodes,db',
    'add nodes,host,relationships,0',
    'add outputs,said',
  ]);
  expect(new_inputs).toEqual({ greeting: 'hello' });
  const { changes: told } = await read(id);
  expect(told.map((one: Record<string, unknown>) => [one.action, one.node_id, one.path, one.effect])).toEqual(
    [
      ['remove', 'app', [], 'uninstall'],
      ['add', 'db', [], 'install'],
      ['add', 'host', ['relationships', '0'], 'establish'],
      ['add', null, ['outputs', 'said'], 'none'],
    ],
  );
  expect(told[3]).toMatchObject({ before: null, after: { value: 'hello' } });
  expect(await nodeIds('up', 'nodes', 'id')).toEqual(['app', 'host']);

  const changes = await call('up', execution_id, { call: 'update-perform', updateId: id });
  const again = await call('up', execution_id, { call: 'update-perform', updateId: id });
  expect(again).toEqual(changes);
  const host = (await nodeIds('up', 'node-instances', 'id')).find((one: string) => one.startsWith('host'));
  expect(changes.added).toHaveLength(1);
  expect(changes).toMatchObject({
    added: [expect.stringMatching(/^db_/)],
    added_related: [host],
    removed: [expect.stringMatching(/^app_/)],
    extended_relationships: [[host, changes.added[0]]],
    reduced_relationships: [],
    changed_nodes: [],
    modified_entity_ids: {
      node: ['app', 'db'],
      relationship: { host: [0] },
      output: ['said'],
      property: [],
      rel_mappings: {},
    },
  });
  expect(await nodeIds('up', 'node-instances', 'node_id')).toEqual(['app', 'db', 'host']);
  const { body: deployment } = await test.call('GET', '/deployments/up');
  expect(deployment).toMatchObject({ blueprint_id: 'hello-next', inputs: { greeting: 'hello' } });
  expect(deployment.labels.map((label: { key: string }) => label.key)).toEqual(['from_next']);

  await call('up', execution_id, { call: 'update-finish', updateId: id });
  expect(await nodeIds('up', 'node-instances', 'node_id')).toEqual(['db', 'host']);
  expect(await nodeIds('up', 'nodes', 'id')).toEqual(['db', 'host']);
  const { body: left } = await test.call('GET', `/node-instances/${host}`);
  expect(left.relationships.map((r: { target_id: string }) => r.target_id)).toEqual(changes.added);
  expect((await read(id)).state).toBe('successful');
  // Webhooks hear of it once, although the call may be repeated.
  await call('up', execution_id, { call: 'update-finish', updateId: id });
  const { rows } = await test.db.pool.query(
    `select envelope->>'tenant' as tenant, envelope->'payload' as payload from deployments.outbox
     where envelope->>'type' = 'deployments.deployment-updated.v1'`,
  );
  const payload = { deploymentId: 'up', change: 'update', blueprintId: 'hello-next', updateId: id };
  expect(rows).toEqual([{ tenant, payload }]);
});

it('rehearses the preparation: all steps are told, the update stays as it is', async () => {
  await test.create('dry', { blueprint_id: 'hello-flat' });
  const { id, execution_id } = (await initiate('dry', { blueprint_id: 'hello-next' })).body;
  const before = await read(id);
  const told = await call('dry', execution_id, {
    call: 'rehearse',
    of: { call: 'update-prepare', updateId: id },
  } as never);
  expect(told.unsupported).toEqual([]);
  expect(told.steps).toContain('entity type: node, entity id: nodes:db, action: add');
  expect(await read(id)).toEqual(before);
});

it('keeps the last relationship in the record that the next steps are made from', async () => {
  await test.create('pair', { blueprint_id: 'pair' });
  const updateTo = async (blueprint_id: string) => {
    const { id, execution_id } = (await initiate('pair', { blueprint_id })).body;
    await call('pair', execution_id, { call: 'update-prepare', updateId: id });
    const changes = await call('pair', execution_id, { call: 'update-perform', updateId: id });
    await call('pair', execution_id, { call: 'update-finish', updateId: id });
    const { steps } = await read(id);
    return {
      steps: steps.map((s: { action: string; entity_id: string[] }) => `${s.action} ${s.entity_id}`),
      gained: changes.extended_relationships.length,
      lost: changes.reduced_relationships.length,
    };
  };
  const removal = 'remove nodes,b,relationships,0';
  expect(await updateTo('pair-apart')).toEqual({ steps: [removal], gained: 0, lost: 1 });
  const { body: nodes } = await test.call('GET', '/nodes?deployment_id=pair&id=b');
  expect(nodes.items[0].relationships).toEqual([]);
  expect(await updateTo('pair-apart')).toEqual({ steps: [removal], gained: 0, lost: 0 });
  expect(await updateTo('pair')).toEqual({ steps: [], gained: 1, lost: 0 });
  expect(await updateTo('pair')).toEqual({ steps: [], gained: 0, lost: 0 });
});

it('the changes of an update are told in single reads of the own wire only', async () => {
  await test.create('told', { blueprint_id: 'hello-flat' });
  const { id, changes } = (await initiate('told', { blueprint_id: 'hello-next' })).body;
  expect(changes).toBeNull();
  const list = await test.call('GET', '/deployment-updates?deployment_id=told');
  expect(Object.keys(list.body.items[0])).not.toContain('changes');
  expect((await test.call('GET', `/deployment-updates/${id}?_include=id,changes`)).body).toEqual({
    id,
    changes: null,
  });
  const original = await startTestDeployments({ wire: 'cloudify' });
  try {
    await original.create('told', { blueprint_id: 'hello-flat' });
    const { body } = await original.call('PUT', '/deployment-updates/told/update/initiate', {});
    expect(Object.keys(body)).not.toContain('changes');
  } finally {
    await original.stop();
  }
});

it('fails an update with its execution', async () => {
  await test.create('down', { blueprint_id: 'hello-flat' });
  const { id, execution_id } = (await initiate('down', {})).body;
  const ended = { tenant, deploymentId: 'down', executionId: execution_id, workflowId: 'update' };
  await test.rpc.executionEnded({ ...ended, status: 'cancelled' });
  expect((await read(id)).state).toBe('failed');
});
