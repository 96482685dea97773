import { startTestDeployments, type TestDeployments } from './testing/test-deployments';

let test: TestDeployments;
let instance: string;
beforeAll(async () => {
  test = await startTestDeployments();
  await test.create('d');
  instance = (await test.call('GET', '/node-instances?deployment_id=d')).body.items[0].id;
});
afterAll(() => test.stop());

const put = (name: string, body: object = {}) =>
  test.call('PUT', `/agents/${name}`, {
    node_instance_id: instance,
    state: 'creating',
    create_rabbitmq_user: true,
    ...body,
  });
const code = ({ status, body }: { status: number; body: { error_code?: string; field?: string } }) =>
  `${status} ${body.error_code ?? ''} ${body.field ?? ''}`.trim();

it('has certificates of nobody to replace while there are no agents', async () => {
  const replace = (body: object) => test.call('PATCH', '/agents', body);
  for (const body of [{ bundle: false }, { bundle: true, broker_ca_cert: 'pem' }])
    expect(await replace(body)).toEqual({ status: 200, body: { number_of_updated_agents: 0 } });
  expect(code(await replace({ broker_ca_cert: null }))).toBe('400 bad_parameters_error bundle');
  expect(code(await replace({ bundle: true, manager_ca_cert: 'pem' }))).toBe(
    '400 bad_parameters_error manager_ca_cert',
  );
});

it('enters an agent once, and changes it', async () => {
  const made = await put('agent1', {
    ip: '10.0.0.1',
    install_method: 'remote',
    system: 'linux',
    version: '7.0',
  });
  expect(made).toMatchObject({
    status: 200,
    body: {
      id: instance,
      host_id: instance,
      name: 'agent1',
      deployment: 'd',
      state: 'creating',
      rabbitmq_username: null,
    },
  });
  const twin = await put('agent1', { ip: '10.9.9.9' });
  expect([twin.status, Object.values(twin.body).every((value) => value === null)]).toEqual([200, true]);
  const changed = await test.call('PATCH', '/agents/agent1', { state: 'started', version: '7.1' });
  expect(changed.body).toMatchObject({ ip: '10.0.0.1', state: 'started', version: '7.1', system: 'linux' });
  expect(code(await test.call('PATCH', '/agents/agent1', { state: 'asleep' }))).toBe(
    '400 bad_parameters_error state',
  );
  expect(code(await test.call('PATCH', '/agents/nosuch', { state: 'started' }))).toBe('404 not_found_error');
  expect(code(await put('agent2', { node_instance_id: 'nosuch' }))).toBe('404 not_found_error');
  expect(code(await put('agent2', { install_method: 'magic' }))).toBe(
    '400 bad_parameters_error install_method',
  );
});

it('can be listed with every field, as a dump of agents asks for it', async () => {
  const include = 'id,node_instance_id,state,created_at,created_by,visibility,rabbitmq_username,updated_at';
  const { status, body } = await test.call(
    'GET',
    `/agents?_get_data=True&deployment_id=d&_include=${include}`,
  );
  expect(status).toBe(200);
  expect(Object.keys(body.items[0]).sort()).toEqual(include.split(',').sort());
  expect(body.items[0]).toMatchObject({ node_instance_id: instance, rabbitmq_username: null });
});

it.each([
  ['deployment_id=d', 1],
  ['deployment_id=other', 0],
  ['node_instance_ids=x&node_instance_ids=', 0],
  ['install_methods=remote&install_methods=plugin', 1],
  ['state=started&ip=10.0.0.1&system=linux&version=7.1', 1],
  ['_search=gent', 1],
  ['_search=other', 0],
])('lists by %s', async (query, total) => {
  const { body } = await test.call('GET', `/agents?${query}`);
  expect(body.metadata.pagination.total).toBe(total);
  expect(body.items).toHaveLength(total);
});
