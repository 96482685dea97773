import { type Answer, startTestDeployments, type TestDeployments } from './testing/test-deployments';

/** Inter-deployment dependencies (reference/rest-api.md 5.4). */

let manager: TestDeployments;
beforeAll(async () => {
  manager = await startTestDeployments();
  for (const id of ['sa', 'sb', 'sc', 'se']) await manager.create(id, {});
}, 60_000);
afterAll(() => manager.stop());

const path = '/deployments/inter-deployment-dependencies';
const code = (answer: Answer) => [answer.status, answer.body?.error_code];
const ids = (answer: Answer) => answer.body.items.map((i: { id: string }) => i.id).join();

test('of several that are alike none is deleted on the wire of the original', async () => {
  const original = await startTestDeployments({ wire: 'cloudify' });
  try {
    for (const id of ['sa', 'sb', 'sc']) await original.create(id, {});
    const alike = { dependency_creator: 'x', source_deployment: 'sa', target_deployment: 'sb' };
    const other = { ...alike, target_deployment: 'sc' };
    for (const body of [alike, alike, other]) await original.call('PUT', path, body);
    expect(code(await original.call('DELETE', path, alike))).toEqual([409, 'ambiguous_name']);
    expect((await original.call('DELETE', path, other)).status).toBe(204);
    expect((await original.call('GET', path)).body.items).toHaveLength(2);
  } finally {
    await original.stop();
  }
});

test('are recorded, block deletion, refuse cycles, and go', async () => {
  const idd = { dependency_creator: 'nodes.x', source_deployment: 'sa', target_deployment: 'sb' };
  const made = await manager.call('PUT', path, idd);
  expect(made.body).toMatchObject({
    dependency_creator: 'nodes.x',
    source_deployment_id: 'sa',
    target_deployment_id: 'sb',
    target_deployment_func: null,
  });
  expect((await manager.call('PUT', path, idd)).body.id).not.toBe(made.body.id);
  expect(
    code(
      await manager.call('PUT', path, {
        dependency_creator: 'nodes.y',
        source_deployment: 'sb',
        target_deployment: 'sa',
      }),
    ),
  ).toEqual([409, 'conflict_error']);
  expect(code(await manager.call('PUT', path, { ...idd, source_deployment: 'nosuch' }))).toEqual([
    404,
    'not_found_error',
  ]);
  expect(code(await manager.call('PUT', path, { source_deployment: 'sa' }))).toEqual([
    400,
    'bad_parameters_error',
  ]);
  expect((await manager.call('GET', `${path}?source_deployment_id=sa`)).body.metadata.pagination.total).toBe(
    2,
  );
  expect(code(await manager.call('DELETE', '/deployments/sb'))).toEqual([400, 'dependent_exists_error']);
  expect(ids(await manager.call('GET', '/deployments?_dependencies_of=sa&_include=id'))).toBe('sb');
  expect((await manager.call('DELETE', path, { ...idd, is_component_deletion: false })).body.id).toBe(
    made.body.id,
  );
  await manager.call('DELETE', path, idd);
  expect(code(await manager.call('DELETE', path, idd))).toEqual([404, 'not_found_error']);
  await manager.call('PUT', path, { ...idd, dependency_creator: 'sharedresource.n_1' });
  expect((await manager.call('GET', '/deployments/sb?_include=labels')).body.labels).toContainEqual(
    expect.objectContaining({ key: 'csys-consumer-id', value: 'sa' }),
  );
  const bulk = await manager.call('POST', path, {
    source_deployment_id: 'sc',
    inter_deployment_dependencies: [
      { dependency_creator: 'a', target_deployment: 'sa' },
      { dependency_creator: 'b', target_deployment: 'sb' },
    ],
  });
  expect([bulk.status, bulk.body.items.length]).toEqual([200, 2]);
  const replaced = await manager.call('PUT', '/deployments/sc/inter-deployment-dependencies', {
    inter_deployment_dependencies: [],
  });
  expect(replaced.status).toBe(200);
  expect((await manager.call('GET', `${path}?source_deployment_id=sc`)).body.items).toEqual([]);
});

test('are identified by their target first, and drop what they gave it', async () => {
  const idd = { dependency_creator: 'nodes.z', source_deployment: 'se' };
  const open = await manager.call('PUT', path, { ...idd, target_deployment_func: { get_input: 'x' } });
  const exact = await manager.call('PUT', path, { ...idd, target_deployment: 'sc' });
  const asked = { ...idd, target_deployment: 'sc' };
  expect((await manager.call('DELETE', path, asked)).body.id).toBe(exact.body.id);
  expect((await manager.call('DELETE', path, asked)).body.id).toBe(open.body.id);

  const consumers = async () =>
    (await manager.call('GET', '/deployments/sc?_include=labels')).body.labels
      .filter((label: { key: string }) => label.key === 'csys-consumer-id')
      .map((label: { value: string }) => label.value);
  const all = '/deployments/se/inter-deployment-dependencies';
  const shared = { dependency_creator: 'sharedresource.n_1', target_deployment: 'sc' };
  await manager.call('PUT', all, { inter_deployment_dependencies: [shared] });
  expect(await consumers()).toEqual(['se']);
  await manager.call('PUT', all, { inter_deployment_dependencies: [] });
  expect(await consumers()).toEqual([]);
});
