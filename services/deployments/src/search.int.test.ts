import {
  type Answer,
  principal,
  startTestDeployments,
  type TestDeployments,
} from './testing/test-deployments';

let test: TestDeployments;
beforeAll(async () => {
  test = await startTestDeployments();
  await test.create('sa', { labels: [{ env: 'prod' }, { team: 'red' }] });
  await test.create('sb', { labels: [{ env: 'dev' }, { team: 'red' }] });
  await test.create('sc', { labels: [{ team: 'blue' }], display_name: 'Third' });
  await test.create('se', { blueprint_id: 'empty' });
}, 60_000);
afterAll(() => test.stop());

const code = (answer: Answer) => [answer.status, answer.body?.error_code];
const rule = (key: string, operator: string, values: unknown[], type = 'label') => ({
  key,
  operator,
  values,
  type,
});
const search = (filter_rules: unknown, query = '') =>
  test.call('POST', `/searches/deployments?_include=id&_sort=id${query}`, { filter_rules });
const ids = (answer: Answer) => answer.body.items.map((i: { id: string }) => i.id).join();

describe('filter rules', () => {
  it.each([
    ['no rules', [], 'sa,sb,sc,se', null],
    ['label any_of', [rule('env', 'any_of', ['prod'])], 'sa', 3],
    ['label any_of in any case of the key', [rule('ENV', 'any_of', ['prod'])], 'sa', 3],
    ['label not_any_of', [rule('env', 'not_any_of', ['prod'])], 'sb', 3],
    ['label is_not', [rule('env', 'is_not', ['prod'])], 'sb,sc,se', 1],
    ['label is_null', [rule('env', 'is_null', [])], 'sc,se', 2],
    ['label is_not_null', [rule('env', 'is_not_null', [])], 'sa,sb', 2],
    ['two rules', [rule('env', 'any_of', ['prod', 'dev']), rule('team', 'any_of', ['red'])], 'sa,sb', 2],
    ['attribute any_of', [rule('blueprint_id', 'any_of', ['mini'], 'attribute')], 'sa,sb,sc', 1],
    ['attribute any_of nothing', [rule('blueprint_id', 'any_of', [], 'attribute')], '', 4],
    ['attribute not_contains', [rule('blueprint_id', 'not_contains', ['min'], 'attribute')], 'se', 3],
    [
      'attribute starts_with in any case',
      [rule('display_name', 'starts_with', ['thi'], 'attribute')],
      'sc',
      3,
    ],
    ['attribute is_not_empty', [rule('site_name', 'is_not_empty', [], 'attribute')], '', 4],
    ['installation status', [rule('installation_status', 'any_of', ['active'], 'attribute')], 'se', 3],
  ])('%s', async (_what, rules, found, filtered) => {
    const answer = await search(rules);
    expect(ids(answer)).toBe(found);
    expect(answer.body.metadata.filtered).toBe(filtered);
  });

  it('sorted by a label, those without it come last, or first where it descends', async () => {
    const sorted = (order: string) => test.call('GET', `/deployments?_include=id&_sort=${order}&_sort=id`);
    expect(ids(await sorted('label:env'))).toBe('sb,sa,sc,se');
    expect(ids(await sorted('-label:env'))).toBe('sc,se,sa,sb');
  });

  it('on schedules name the deployments that executions knows to have some', async () => {
    test.peers.scheduled.push('default_tenant/sb', 'other_tenant/sa');
    const rules = [rule('schedules', 'is_not_empty', [], 'attribute')];
    const answer = await search(rules);
    expect(ids(answer)).toBe('sb');
    expect(answer.body.metadata.filtered).toBe(3);
    const group = await test.call('PUT', '/deployment-groups/scheduled', { filter_rules: rules });
    expect(group.body.deployment_ids).toEqual(['sb']);
  });

  it('are refused with the rule at fault', async () => {
    const answer = await search([rule('team', 'any_of', ['red']), rule('env', 'rubbish', ['x'])]);
    expect(answer.body).toMatchObject({
      error_code: 'invalid_filter_rule',
      err_filter_rule: { operator: 'rubbish' },
      err_reason: expect.stringContaining('rubbish'),
    });
    expect(code(await search([rule('installation_status', 'any_of', ['admin'], 'attribute')]))).toEqual([
      400,
      'invalid_filter_rule',
    ]);
    expect(code(await search('x'))).toEqual([400, 'bad_parameters_error']);
  });
});

describe('stored filters', () => {
  it('live from PUT to DELETE and apply to lists and searches', async () => {
    const rules = [rule('env', 'any_of', ['prod']), rule('created_by', 'any_of', ['admin'], 'attribute')];
    const made = await test.call('PUT', '/filters/deployments/f1', { filter_rules: rules });
    expect(made.body).toMatchObject({
      id: 'f1',
      is_system_filter: false,
      value: [{ key: 'env' }, { key: 'created_by' }],
      labels_filter_rules: [{ key: 'env' }],
      attrs_filter_rules: [{ key: 'created_by' }],
    });
    expect(code(await test.call('PUT', '/filters/deployments/f1', { filter_rules: rules }))).toEqual([
      409,
      'conflict_error',
    ]);
    expect(code(await test.call('PUT', '/filters/deployments/f2', {}))).toEqual([
      400,
      'bad_parameters_error',
    ]);
    expect(code(await test.call('PUT', '/filters/deployments/CSYS-x', { filter_rules: [] }))).toEqual([
      400,
      'bad_parameters_error',
    ]);
    expect(ids(await test.call('GET', '/deployments?_filter_id=f1&_include=id'))).toBe('sa');
    expect(ids(await search([rule('team', 'any_of', ['red'])], '&_filter_id=f1'))).toBe('sa');
    expect((await test.call('GET', '/deployments?_filter_id=nosuch')).status).toBe(404);
    const changed = await test.call('PATCH', '/filters/deployments/f1', {
      filter_rules: [rule('team', 'is_not_null', [])],
    });
    expect(changed.body.value.map((r: { key: string }) => r.key)).toEqual(['created_by', 'team']);
    const same = await test.call('PATCH', '/filters/deployments/f1', { filter_rules: [] });
    expect([same.status, same.body.value]).toEqual([200, changed.body.value]);
    expect(code(await test.call('PATCH', '/filters/deployments/f1', {}))).toEqual([
      400,
      'illegal_action_error',
    ]);
    await test.call('PATCH', '/filters/deployments/f1', { visibility: 'global' });
    expect(code(await test.call('PATCH', '/filters/deployments/f1', { visibility: 'private' }))).toEqual([
      400,
      'illegal_action_error',
    ]);
    expect((await test.call('DELETE', '/filters/deployments/f1')).status).toBe(204);
    expect((await test.call('GET', '/filters/deployments/f1')).status).toBe(404);
  });

  it('come with 22 system filters that nobody changes', async () => {
    const { items } = (await test.call('GET', '/filters/deployments?_include=id,is_system_filter')).body;
    expect(items).toHaveLength(22);
    expect(code(await test.call('DELETE', '/filters/deployments/csys-service-filter'))).toEqual([
      400,
      'illegal_action_error',
    ]);
    expect(
      ids(await test.call('GET', '/deployments?_filter_id=csys-service-filter&_include=id&_sort=id')),
    ).toBe('sa,sb,sc,se');
    expect(ids(await test.call('GET', '/deployments?_filter_id=csys-environment-filter&_include=id'))).toBe(
      '',
    );
  });
});

describe('searches by constraints', () => {
  it('find deployments, nodes, types, instances, capabilities and scaling groups', async () => {
    const by = (kind: string, constraints: unknown, query = '') =>
      test.call('POST', `/searches/${kind}${query}`, { constraints });
    expect(ids(await by('deployments', { name_pattern: { contains: 's' } }, '?_include=id&_sort=id'))).toBe(
      'sa,sb,se',
    );
    expect(ids(await by('deployments', { labels: [{ team: 'red' }] }, '?_include=id&_sort=id'))).toBe(
      'sa,sb',
    );
    expect((await by('deployments', { filter_id: 'nosuch' })).status).toBe(404);
    expect((await by('nodes', { deployment_id: 'sa' }, '?_include=id')).body.items).toEqual([{ id: 'n' }]);
    expect(code(await by('nodes', {}))).toEqual([400, 'bad_parameters_error']);
    expect(
      (await by('nodes', { blueprint_id: 'hello', valid_values: ['app'] }, '?_include=id')).body.items,
    ).toEqual([{ id: 'app' }]);
    expect((await by('node-types', { deployment_id: 'sa' }, '?_include=type')).body.items).toEqual([
      { type: 'cloudify.nodes.Root' },
    ]);
    expect((await by('node-instances', { deployment_id: 'sa' }, '?_include=node_id')).body.items).toEqual([
      { node_id: 'n' },
    ]);
    expect((await by('capabilities', { deployment_id: 'sa' })).body.items).toEqual([
      { deployment_id: 'sa', capabilities: [{ c1: { value: 'v1' } }] },
    ]);
    const valued = (valid_values: unknown) => by('capabilities', { deployment_id: 'sa', valid_values });
    expect((await valued([3, 'v1'])).body.items).toHaveLength(1);
    expect((await valued([3, { a: 1 }])).body.items).toEqual([]);
    const named = (equals_to: string) =>
      by('capabilities', { deployment_id: 'sa', name_pattern: { equals_to } });
    expect((await named('c1')).body.items).toHaveLength(1);
    expect((await named('v1')).body.items).toEqual([]);
    expect((await by('scaling-groups', { deployment_id: 'sa' })).body.items).toEqual([]);
    expect((await by('scaling-groups', { blueprint_id: 'hello' })).body.items).toMatchObject([
      { name: 'g1', members: ['app'] },
    ]);
    expect((await test.call('POST', '/searches/workflows?_include=name', {})).body.items).toContainEqual({
      name: 'install',
    });
  });
});

describe('summaries', () => {
  it('count by a field and a sub field', async () => {
    const summary = async (query: string) => (await test.call('GET', `/summary/${query}`)).body;
    expect((await summary('deployments?_target_field=blueprint_id')).items).toEqual([
      { blueprint_id: 'empty', deployments: 1 },
      { blueprint_id: 'mini', deployments: 3 },
    ]);
    expect((await summary('deployments?_target_field=blueprint_id&_size=1')).metadata.pagination).toEqual({
      total: 2,
      size: 1,
      offset: 0,
    });
    expect((await summary('deployments?_target_field=site_name&_sub_field=visibility')).items).toEqual([
      { site_name: null, deployments: 4, 'by visibility': [{ visibility: 'tenant', deployments: 4 }] },
    ]);
    expect((await summary('node_instances?_target_field=state&deployment_id=sa')).items).toEqual([
      { state: 'uninitialized', node_instances: 1 },
    ]);
    expect((await summary('nodes?_target_field=deployment_id')).items).toHaveLength(3);
    // Fields of the deployment are looked up after the instances were counted.
    const ofInstances = (query: string) => summary(`node_instances?${query}`);
    const byDeployment = (await ofInstances('_target_field=deployment_id')).items;
    expect(byDeployment).toEqual(
      [...byDeployment].sort((a, b) => (a.deployment_id < b.deployment_id ? -1 : 1)),
    );
    expect(byDeployment).toContainEqual({ deployment_id: 'sa', node_instances: 1 });
    expect((await ofInstances('_target_field=deployment_id&_sub_field=state')).items).toContainEqual({
      deployment_id: 'sa',
      node_instances: 1,
      'by state': [{ state: 'uninitialized', node_instances: 1 }],
    });
    const count = byDeployment.reduce(
      (sum: number, one: { node_instances: number }) => sum + one.node_instances,
      0,
    );
    expect((await ofInstances('_target_field=state&_sub_field=deployment_id')).items).toEqual([
      {
        state: 'uninitialized',
        node_instances: count,
        'by deployment_id': byDeployment,
      },
    ]);
    expect((await ofInstances('_target_field=state&created_by=admin')).items[0].node_instances).toBe(count);
    expect((await ofInstances('_target_field=state&created_by=nobody')).items).toEqual([]);
    const sorted = (await test.call('GET', '/node-instances?_sort=-deployment_id')).body.items;
    const ids = sorted.map((one: { deployment_id: string }) => one.deployment_id);
    expect(ids).toEqual(byDeployment.map((one: { deployment_id: string }) => one.deployment_id).reverse());
    for (const query of ['deployments', 'deployments?_target_field=nope', 'nodes?_target_field=type']) {
      expect(await summary(query)).toMatchObject({ error_code: 'bad_parameters_error' });
    }
  });
});

it('summaries of deployments use stored filters as the list does', async () => {
  const filter = { filter_rules: [rule('team', 'any_of', ['red'])] };
  await test.call('PUT', '/filters/deployments/reds', filter);
  await test.call('PUT', '/filters/deployments/none', { filter_rules: [] });
  const summary = (query: string) => test.call('GET', `/summary/deployments?_target_field=${query}`);
  const counted = async (query: string) => (await summary(query)).body.items;
  expect(await counted('blueprint_id&_filter_id=reds')).toEqual([{ blueprint_id: 'mini', deployments: 2 }]);
  expect(await counted('blueprint_id&_filter_id=reds&_search=sb')).toEqual([
    { blueprint_id: 'mini', deployments: 1 },
  ]);
  // By fields of which there are counters, too; and the site, which is looked up after the rows were counted.
  for (const field of ['visibility', 'site_name']) {
    const value = field === 'visibility' ? 'tenant' : null;
    expect(await counted(`${field}&_filter_id=reds`)).toEqual([{ [field]: value, deployments: 2 }]);
    expect(await counted(`${field}&_filter_id=none`)).toEqual(await counted(field));
  }
  const [refused, listed] = [
    await summary('blueprint_id&_filter_id=nosuch'),
    await test.call('GET', '/deployments?_filter_id=nosuch'),
  ];
  expect(code(refused)).toEqual([404, 'not_found_error']);
  expect(refused.body.message).toBe(listed.body.message);
});

it('summaries may name one field twice', async () => {
  const query = '_target_field=visibility&_sub_field=visibility';
  const { status, body } = await test.call('GET', `/summary/deployments?${query}`);
  expect(status).toBe(200);
  for (const item of body.items)
    expect(item['by visibility']).toEqual([{ visibility: item.visibility, deployments: item.deployments }]);
  expect(body.items.length).toBeGreaterThan(0);
});

describe('sites', () => {
  it('keep to the rules of names, locations and visibility', async () => {
    const put = (name: string, body: unknown = {}, as = principal('admin')) =>
      test.call('PUT', `/sites/${name}`, body, as);
    expect((await put('s1', { location: '34.5,-56.25' })).body).toMatchObject({
      name: 's1',
      location: '34.5, -56.25',
      latitude: 34.5,
      private_resource: false,
    });
    expect((await put('s2', { location: '' })).body.location).toBeNull();
    const near = async (query: string) =>
      (await test.call('GET', `/sites?_include=name&${query}`)).body.items.map(
        (s: { name: string }) => s.name,
      );
    expect(await near('latitude=34.50')).toEqual(['s1']);
    expect(await near('longitude=-56.25&latitude=34.5')).toEqual(['s1']);
    expect(await near('latitude=x')).toEqual([]);
    expect((await put('far', { location: '1e1,.5' })).body.location).toBe('10.0, 0.5');
    await test.call('DELETE', '/sites/far');
    for (const location of ['34', 'a,b', '134.5,10', '1,2,3'])
      expect(code(await put('bad', { location }))).toEqual([400, 'bad_parameters_error']);
    expect(code(await put('s1'))).toEqual([409, 'conflict_error']);
    expect(code(await put('1digit'))).toEqual([400, 'bad_parameters_error']);
    expect(code(await put('owned', { created_by: 'nosuch' }))).toEqual([400, 'bad_parameters_error']);
    expect(
      (await put('old', { created_at: '2020-01-02T03:04:05.678Z', created_by: 'bob' })).body,
    ).toMatchObject({ created_at: '2020-01-02T03:04:05.678Z', created_by: 'bob' });
    expect(code(await put('mine', { created_at: '2020-01-02' }, principal('bob')))).toEqual([
      403,
      'forbidden_error',
    ]);
    expect((await test.call('POST', '/sites/s1', { location: '1,2' })).body.location).toBe('1.0, 2.0');
    expect(code(await test.call('POST', '/sites/s1', { new_name: 's2' }))).toEqual([409, 'conflict_error']);
    await test.call('POST', '/sites/s1', { visibility: 'global' });
    const foreign = principal('carol', { tenant: 't2' });
    expect((await test.call('GET', '/sites?_include=name', undefined, foreign)).body.items).toEqual([
      { name: 's1' },
    ]);
    expect(code(await test.call('DELETE', '/sites/s1', undefined, foreign))).toEqual([
      400,
      'illegal_action_error',
    ]);
    expect(code(await put('s1', {}, foreign))).toEqual([409, 'conflict_error']);
    expect(code(await put('g', { visibility: 'global' }, foreign))).toEqual([403, 'forbidden_error']);
    expect((await test.call('GET', '/sites?_include=location&name=s1')).body.items).toEqual([
      { location: '1.0, 2.0' },
    ]);
  });
});

describe('evaluating functions', () => {
  it('answers the payload, or says what is wrong', async () => {
    const evaluate = (payload: unknown, context: unknown = {}) =>
      test.call('POST', '/evaluate/functions', { deployment_id: 'sa', context, payload });
    test.peers.values.set('s', { value: 'v' });
    expect(
      (
        await evaluate({
          x: {
            concat: ['a', { get_secret: 's' }, { get_label: ['env', 0] }, { get_sys: ['deployment', 'id'] }],
          },
        })
      ).body,
    ).toEqual({ deployment_id: 'sa', payload: { x: 'avprodsa' } });
    expect(
      (await evaluate({ x: { get_attribute: ['SELF', 'node_instance_index'] } }, { self: 'n' })).body.payload,
    ).toEqual({ x: 1 });
    expect(code(await evaluate({ x: { get_input: 'nosuch' } }))).toEqual([400, 'functions_evaluation_error']);
    expect(code(await evaluate({ x: { get_secret: 'nosuch' } }))).toEqual([404, 'not_found_error']);
    expect((await evaluate({ concat: ['a', 1] })).body.payload).toBe('a1');
    expect(code(await test.call('POST', '/evaluate/functions', { deployment_id: 'sa' }))).toEqual([
      400,
      'bad_parameters_error',
    ]);
  });
});

describe('the original wire', () => {
  it('shows the retired fields only there', async () => {
    expect(
      Object.keys((await test.call('GET', '/nodes?deployment_id=sa')).body.items[0]).filter((name) =>
        name.endsWith('_p'),
      ),
    ).toEqual([]);
    const cloudify = await startTestDeployments({ wire: 'cloudify' });
    await cloudify.create('d');
    expect((await cloudify.call('GET', '/deployments/d')).body).toMatchObject({
      inputs_p: null,
      workflows_p: null,
    });
    const found = await cloudify.call('POST', '/searches/workflows?_include=name', {
      constraints: { nope: 1 },
    });
    expect(found.body.items[0]).toHaveProperty('availability_rules');
    await cloudify.stop();
  });
});
