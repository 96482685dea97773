import { startTestDeployments, type TestDeployments } from './testing/test-deployments';

let test: TestDeployments;
const tenant = 'default_tenant';
beforeAll(async () => {
  test = await startTestDeployments();
  test.peers.values.set('token', { value: 'sesame' });
});
afterAll(() => test.stop());

const instances = async (id: string) =>
  (await test.call('GET', `/node-instances?deployment_id=${id}&_sort=node_id&_sort=index`)).body.items as {
    id: string;
    node_id: string;
    index: number;
    state: string;
    relationships: { target_id: string }[];
    scaling_groups: { id: string }[];
  }[];
const node = async (deployment: string, id: string) =>
  (await test.call('GET', `/nodes?deployment_id=${deployment}&id=${id}`)).body.items[0];
const deploy = (id: string) => test.create(id, { blueprint_id: 'hello', inputs: { must: 1 } });

it('scales a node out: instances and relationships at the start, numbers at the finish', async () => {
  await deploy('out');
  const answer = await test.call('POST', '/deployment-modifications', {
    deployment_id: 'out',
    nodes: { host: { instances: 3 } },
    context: { why: 'load' },
  });
  expect(answer.status).toBe(201);
  expect(answer.body).toMatchObject({
    status: 'started',
    deployment_id: 'out',
    context: { why: 'load' },
    ended_at: null,
    modified_nodes: { host: { instances: 3 } },
  });
  const marks = (list: { modification: string }[]) => list.map((i) => i.modification).sort();
  expect(marks(answer.body.node_instances.added_and_related)).toEqual(['added', 'added', 'related']);
  // Complete copies in the form of the API's instances, in the order of the nodes.
  const { items } = (await test.call('GET', '/node-instances?deployment_id=out&_size=1')).body;
  const copies = answer.body.node_instances.before_modification as Record<string, unknown>[];
  expect(copies.map((copy) => Object.keys(copy).sort())).toEqual(
    [1, 2].map(() => Object.keys(items[0]).sort()),
  );
  expect(copies.map((copy) => [copy.node_id, copy.deployment_id, copy.created_by])).toEqual([
    ['host', 'out', 'admin'],
    ['app', 'out', 'admin'],
  ]);
  const started = await instances('out');
  expect(started.map((i) => `${i.node_id}${i.index}`)).toEqual(['app1', 'host1', 'host2', 'host3']);
  expect(started[0]!.relationships).toHaveLength(3);
  expect(await node('out', 'host')).toMatchObject({
    number_of_instances: 1,
    planned_number_of_instances: 3,
    actual_number_of_instances: 3,
  });
  const second = await test.call('POST', '/deployment-modifications', {
    deployment_id: 'out',
    nodes: { host: { instances: 4 } },
  });
  expect([second.status, second.body.error_code]).toEqual([
    400,
    'existing_started_deployment_modification_error',
  ]);
  const finished = await test.call('POST', `/deployment-modifications/${answer.body.id}/finish`);
  expect(finished.body.status).toBe('finished');
  expect(await node('out', 'host')).toMatchObject({ number_of_instances: 3 });
  const again = await test.call('POST', `/deployment-modifications/${answer.body.id}/rollback`);
  expect([again.status, again.body.error_code]).toEqual([400, 'deployment_modification_already_ended_error']);
});

it('scales in with hints: marked at the start, gone at the finish with their relationships', async () => {
  await deploy('in');
  const out = await test.call('POST', '/deployment-modifications', {
    deployment_id: 'in',
    nodes: { host: { instances: 3 } },
  });
  await test.call('POST', `/deployment-modifications/${out.body.id}/finish`);
  const hosts = (await instances('in')).filter((i) => i.node_id === 'host').map((i) => i.id);
  const { body } = await test.call('POST', '/deployment-modifications', {
    deployment_id: 'in',
    nodes: { host: { instances: 2, removed_ids_include_hint: [hosts[1]] } },
  });
  expect(
    body.node_instances.removed_and_related
      .filter((i: { modification: string }) => i.modification === 'removed')
      .map((i: { id: string }) => i.id),
  ).toEqual([hosts[1]]);
  expect(await instances('in')).toHaveLength(4);
  await test.call('POST', `/deployment-modifications/${body.id}/finish`);
  const left = await instances('in');
  expect(left.map((i) => i.id)).not.toContain(hosts[1]);
  expect(left[0]!.relationships.map((r) => r.target_id).sort()).toEqual([hosts[0], hosts[2]].sort());
});

it('scales a group and takes it back: everything is as before, versions go on', async () => {
  await deploy('back');
  const before = await instances('back');
  await test.call('PATCH', `/node-instances/${before[0]!.id}`, {
    version: 1,
    runtime_properties: { kept: true },
  });
  const { body } = await test.call('POST', '/deployment-modifications', {
    deployment_id: 'back',
    nodes: { g1: { instances: 2 } },
  });
  const during = await instances('back');
  expect(during.map((i) => i.node_id)).toEqual(['app', 'app', 'host']);
  expect(during[1]!.scaling_groups[0]!.id).not.toBe(during[0]!.scaling_groups[0]!.id);
  expect((await test.call('GET', '/deployments/back')).body.scaling_groups.g1.properties).toMatchObject({
    planned_instances: 2,
    current_instances: 1,
  });
  await test.call('PATCH', `/node-instances/${before[0]!.id}`, {
    version: 99,
    runtime_properties: { lost: true },
    state: 'started',
  });
  const rolled = await test.call('POST', `/deployment-modifications/${body.id}/rollback`);
  expect(rolled.body).toMatchObject({
    status: 'rolledback',
    node_instances: {
      before_rollback: expect.arrayContaining([expect.objectContaining({ node_id: 'app' })]),
    },
  });
  const after = await instances('back');
  expect(after.map((i) => i.id)).toEqual(before.map((i) => i.id));
  expect(after[0]).toMatchObject({ state: 'uninitialized', runtime_properties: { kept: true } });
  expect(
    (await test.call('GET', '/deployments/back')).body.scaling_groups.g1.properties.planned_instances,
  ).toBe(1);
});

it('refuses unknown names and numbers outside the bounds', async () => {
  await deploy('bounds');
  const start = async (nodes: unknown) => {
    const { status, body } = await test.call('POST', '/deployment-modifications', {
      deployment_id: 'bounds',
      nodes,
    });
    return [status, body.error_code];
  };
  expect(await start({ nosuch: { instances: 2 } })).toEqual([404, 'not_found_error']);
  expect(await start({ g1: { instances: 4 } })).toEqual([400, 'illegal_action_error']);
  expect(await start({ host: { instances: -1 } })).toEqual([400, 'bad_parameters_error']);
});

it('answers a repeated call of a workflow with the first result, also when two come at once', async () => {
  await deploy('called');
  const call = (callName: string, request: unknown) =>
    test.rpc.callModel({
      tenant,
      deploymentId: 'called',
      executionId: 'e1',
      callName,
      requestJson: JSON.stringify(request),
    });
  const start = { call: 'modification-start', entities: { host: { instances: 2 } }, context: {} };
  const [first, twin] = await Promise.all([call('scale-start', start), call('scale-start', start)]);
  expect(twin).toEqual(first);
  expect(await call('scale-start', start)).toEqual(first);
  const result = JSON.parse(first.resultJson);
  expect(result.added).toHaveLength(1);
  expect(result.related).toHaveLength(1);
  expect(await instances('called')).toHaveLength(3);
  const model = JSON.parse(
    (await test.rpc.getWorkflowModel({ tenant, deploymentId: 'called' })).deploymentJson,
  );
  expect(model.modifications).toEqual([
    { id: result.modification_id, context: {}, added: result.added, removed: [], related: result.related },
  ]);
  await call('scale-finish', { call: 'modification-finish', modificationId: result.modification_id });
  await call('scale-finish', { call: 'modification-finish', modificationId: result.modification_id });
  expect((await test.call('GET', `/deployment-modifications/${result.modification_id}`)).body.status).toBe(
    'finished',
  );
  const edits = [{ nodeInstanceId: result.added[0], edits: [{ edit: 'set', path: ['a', 'b'], value: 1 }] }];
  await call('mark', { call: 'system-properties', changes: edits });
  expect((await test.call('GET', `/node-instances/${result.added[0]}`)).body.system_properties).toEqual({
    a: { b: 1 },
  });
  await expect(call('other', { call: 'nonsense' })).rejects.toMatchObject({ code: 'bad_parameters_error' });
});

it('rehearses a start: the answer shows what would be there, and nothing is', async () => {
  await deploy('rehearsed');
  const before = [await instances('rehearsed'), await node('rehearsed', 'host')];
  const call = (request: object) =>
    test.rpc.callModel({
      tenant,
      deploymentId: 'rehearsed',
      executionId: 'e2',
      callName: 'scale-start',
      requestJson: JSON.stringify({ call: 'rehearse', of: request }),
    });
  const request = { call: 'modification-start', entities: { host: { instances: 3 } }, context: {} };
  const result = JSON.parse((await call(request)).resultJson);
  expect(result.added).toHaveLength(2);
  expect(result.modification_id).toBeUndefined();
  const shown = result.instances as { id: string; node_id: string; relationships: unknown[] }[];
  expect(shown.map((i) => i.id).sort()).toEqual([...result.added, ...result.related].sort());
  expect(shown.find((i) => i.node_id === 'app')!.relationships).toHaveLength(3);
  expect([await instances('rehearsed'), await node('rehearsed', 'host')]).toEqual(before);
  const list = await test.call('GET', '/deployment-modifications?deployment_id=rehearsed');
  expect(list.body.items).toEqual([]);
  // No result was stored under the name of the call either, and any other change is refused in a rehearsal.
  expect(JSON.parse((await call(request)).resultJson).added).not.toEqual(result.added);
  await expect(call({ call: 'system-properties', changes: [] })).rejects.toMatchObject({
    code: 'bad_parameters_error',
  });
});

it('on the wire of the original a modification and its copies have the retired columns too', async () => {
  const original = await startTestDeployments({ wire: 'cloudify' });
  original.peers.values.set('token', { value: 'sesame' });
  try {
    await original.create('d', { blueprint_id: 'hello', inputs: { must: 1 } });
    const { body } = await original.call('POST', '/deployment-modifications', {
      deployment_id: 'd',
      nodes: { host: { instances: 2 } },
    });
    const { body: rolled } = await original.call('POST', `/deployment-modifications/${body.id}/rollback`);
    const { items } = (await original.call('GET', '/deployment-modifications')).body;
    for (const shown of [body, rolled, items[0]])
      expect(shown).toMatchObject({
        context_p: null,
        modified_nodes_p: null,
        node_instances_p: null,
        node_instances: { before_modification: [{ runtime_properties_p: null }, { relationships_p: null }] },
      });
    expect(rolled.node_instances.before_rollback[0]).toHaveProperty('scaling_groups_p', null);
    // Remaining instances have all their fields, and only the relationships that they gain.
    const { added_and_related: added, extended_and_related: extended } = body.node_instances;
    const app = {
      node_id: 'app',
      index: 1,
      state: 'uninitialized',
      relationships: [{ target_id: added[0].id }],
    };
    expect(added).toMatchObject([
      { modification: 'added', host_id: null },
      { ...app, modification: 'related' },
    ]);
    expect(extended).toMatchObject([{ ...app, modification: 'extended' }]);
    expect(body.node_instances.reduced_and_related).toEqual([]);
  } finally {
    await original.stop();
  }
});

it('on the wire of the original the bounds of a blueprint do not limit what is scaled, and the next finish keeps the number', async () => {
  const original = await startTestDeployments({ wire: 'cloudify' });
  original.peers.values.set('token', { value: 'sesame' });
  try {
    await original.create('wide', { blueprint_id: 'hello', inputs: { must: 1 } });
    const { status, body } = await original.call('POST', '/deployment-modifications', {
      deployment_id: 'wide',
      nodes: { g1: { instances: 4 } },
    });
    expect(status).toBe(201);
    await original.call('POST', `/deployment-modifications/${body.id}/finish`);
    const { scaling_groups: groups } = (await original.call('GET', '/deployments/wide')).body;
    expect(groups.g1.properties).toMatchObject({
      max_instances: 3,
      current_instances: 4,
      planned_instances: 4,
    });
    const call = { tenant, deploymentId: 'wide', executionId: 'e', callName: 'more' };
    const request = { call: 'modification-start', entities: { g1: { instances: 5 } }, context: {} };
    const more = await original.rpc.callModel({ ...call, requestJson: JSON.stringify(request) });
    expect(JSON.parse(more.resultJson).added.length).toBeGreaterThan(0);
    const below = await original.call('POST', '/deployment-modifications', {
      deployment_id: 'wide',
      nodes: { host: { instances: -1 } },
    });
    expect(below.body.error_code).toBe('bad_parameters_error');
  } finally {
    await original.stop();
  }
});
