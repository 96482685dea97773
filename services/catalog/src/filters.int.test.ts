import { blueprintTgz } from './testing/archives';
import { admin, startCatalog, type TestCatalog, userOf } from './testing/catalog-setup';

let catalog: TestCatalog;
let call: TestCatalog['call'];
const MAIN = 'tosca_definitions_version: cloudify_dsl_1_4\n';
beforeAll(async () => {
  catalog = await startCatalog();
  ({ call } = catalog);
  const raw = await blueprintTgz({ 'blueprint.yaml': MAIN });
  for (const [id, labels] of Object.entries({
    one: 'env=prod,team=red',
    two: 'env=dev,team=red',
    many: 'env=prod,env=dev',
    bare: '',
  })) {
    await call('PUT', `/blueprints/${id}?labels=${labels}`, {
      raw,
      contentType: 'application/octet-stream',
      as: id === 'bare' ? userOf('ann') : admin,
    });
  }
});
afterAll(() => catalog.close());

const rule = (key: string, operator: string, values: unknown, type = 'label') => ({
  key,
  operator,
  values,
  type,
});
const search = (filter_rules: unknown, query = '') =>
  call('POST', `/searches/blueprints?_include=id&_sort=id${query}`, { json: { filter_rules } });
const ids = async (answer: ReturnType<typeof call>) =>
  (await answer).body.items.map((b: { id: string }) => b.id);

it.each<[ReturnType<typeof rule>[], string[]]>([
  [[rule('env', 'any_of', ['prod'])], ['many', 'one']],
  [[rule('ENV', 'not_any_of', ['prod'])], ['many', 'two']],
  [[rule('env', 'is_not', ['prod'])], ['bare', 'two']],
  [[rule('team', 'is_null', [])], ['bare', 'many']],
  [[rule('team', 'is_not_null', [])], ['one', 'two']],
  [[rule('env', 'any_of', ['PROD'])], []],
  [
    [rule('env', 'any_of', ['prod', 'dev']), rule('team', 'any_of', ['red'])],
    ['one', 'two'],
  ],
  [[rule('created_by', 'any_of', ['ann'], 'attribute')], ['bare']],
  [[rule('created_by', 'not_any_of', ['ann'], 'attribute')], ['many', 'one', 'two']],
  [[rule('id', 'contains', ['an', 'wo'], 'attribute')], ['many', 'two']],
  [[rule('id', 'contains', ['AN'], 'attribute')], []],
  [[rule('id', 'not_contains', ['an', 'wo'], 'attribute')], ['bare', 'one']],
  [[rule('id', 'starts_with', ['O', 'b'], 'attribute')], ['bare', 'one']],
  [[rule('id', 'ends_with', ['%', '_', 'E'], 'attribute')], ['bare', 'one']],
  [[rule('state', 'is_not_empty', [], 'attribute')], ['bare', 'many', 'one', 'two']],
  [[rule('id', 'any_of', [], 'attribute')], []],
])('%j', async (rules, expected) => {
  const answer = await search(rules);
  expect(answer.body.items.map((b: { id: string }) => b.id)).toEqual(expected);
  expect(answer.body.metadata).toEqual({
    pagination: { total: expected.length, offset: 0, size: 1000 },
    filtered: 4 - expected.length,
  });
});

it('tells how many there are beside those found, whatever left them out', async () => {
  const json = { filter_rules: [rule('env', 'is_not', ['prod'])] };
  const { body } = await call('POST', '/searches/blueprints?_search=o&_include=id', { json });
  expect(body.items).toEqual([{ id: 'two' }]);
  expect(body.metadata.filtered).toBe(3);
});

it.each<[unknown, RegExp]>([
  [rule('env', 'any_of', []), /at least one value/],
  [rule('env', 'is_null', ['x']), /takes no values/],
  [rule('env', 'contains', ['x']), /operator/],
  [rule('nope', 'any_of', ['x'], 'attribute'), /attribute/],
  [rule('env', 'any_of', ['x'], 'rubbish'), /type/],
  [rule('env', 'any_of', 'prod'), /list of texts/],
  [rule('env', 'any_of', [5]), /list of texts/],
  [rule('bad key!', 'any_of', ['x']), /ASCII letter/],
  [rule('blueprint_id', 'any_of', ['x'], 'attribute'), /attribute/],
  [{ key: 'env' }, /lacks values, operator, type/],
  [{ ...rule('env', 'any_of', ['x']), more: 1 }, /more/],
  ['x', /object/],
])('refuses the rule %j and says why', async (bad, reason) => {
  const answer = await search([rule('env', 'is_null', []), bad]);
  expect([answer.status, answer.body.error_code]).toEqual([400, 'invalid_filter_rule']);
  expect(answer.body).toMatchObject({
    err_filter_rule: bad,
    err_reason: expect.stringMatching(reason),
    field: 'filter_rules[1]',
  });
});

it('searches by constraints, never together with rules', async () => {
  const by = (constraints: unknown, more: object = {}) =>
    call('POST', '/searches/blueprints?_include=id&_sort=id', { json: { constraints, ...more } });
  expect(await ids(by({ name_pattern: { contains: 'an' } }))).toEqual(['many']);
  expect(await ids(by({ valid_values: ['one', 'two', 'x'], labels: [{ env: 'prod' }] }))).toEqual(['one']);
  expect((await by({ nope: 1 })).body).toMatchObject({
    error_code: 'bad_parameters_error',
    field: 'constraints.nope',
  });
  expect((await by({}, { filter_rules: [] })).status).toBe(400);
});

it('stores filters, uses them in lists and searches, merges rules by type', async () => {
  const rules = [rule('env', 'any_of', ['prod']), rule('created_by', 'any_of', ['admin'], 'attribute')];
  const made = await call('PUT', '/filters/blueprints/mine', { json: { filter_rules: rules } });
  expect(made.body).toMatchObject({
    id: 'mine',
    value: rules,
    labels_filter_rules: [rules[0]],
    attrs_filter_rules: [rules[1]],
    is_system_filter: false,
  });
  expect((await call('PUT', '/filters/blueprints/mine', { json: { filter_rules: rules } })).status).toBe(409);
  expect(await ids(call('GET', '/blueprints?_filter_id=mine&_include=id&_sort=id'))).toEqual(['many', 'one']);
  expect(await ids(search([rule('team', 'is_not_null', [])], '&_filter_id=mine'))).toEqual(['one']);
  const patched = await call('PATCH', '/filters/blueprints/mine', {
    json: { filter_rules: [rule('team', 'is_null', [])] },
  });
  expect(patched.body.value).toEqual([rules[1], rule('team', 'is_null', [])]);
  const same = await call('PATCH', '/filters/blueprints/mine', { json: { filter_rules: [] } });
  expect([same.status, same.body.value]).toEqual([200, patched.body.value]);
  expect((await call('PATCH', '/filters/blueprints/mine', { json: {} })).body.error_code).toBe(
    'illegal_action_error',
  );
  expect((await call('GET', '/blueprints?_filter_id=nosuch')).status).toBe(404);
  expect((await call('PUT', '/filters/blueprints/csys-x', { json: { filter_rules: [] } })).status).toBe(400);
  expect(
    (
      await call('PUT', '/filters/blueprints/hidden', {
        json: { filter_rules: [], visibility: 'private' },
        as: userOf('ann'),
      })
    ).status,
  ).toBe(200);
  expect((await call('GET', '/filters/blueprints/hidden', { as: userOf('bob') })).status).toBe(404);
  expect((await call('DELETE', '/filters/blueprints/mine')).status).toBe(204);
});

describe('labels', () => {
  const patch = (labels: unknown) => call('PATCH', '/blueprints/bare', { json: { labels } });
  it('replace the whole set; those that stay keep their time', async () => {
    const before = (await patch([{ Env: 'CaSe' }, { env: ['a', 'b'] }])).body.labels;
    expect(before.map((l: { value: string }) => l.value)).toEqual(['CaSe', 'a', 'b']);
    const after = (await patch([{ env: 'a' }, { 'csys-obj-type': 'K8S' }])).body.labels;
    expect(after).toEqual([expect.objectContaining({ key: 'csys-obj-type', value: 'k8s' }), before[1]]);
    expect((await patch([])).body.labels).toEqual([]);
  });

  it.each([
    [[{ 'bad key!': 'a' }]],
    [[{ k: 'a', k2: 'b' }]],
    ['x'],
    [[{ k: 'x'.repeat(257) }]],
    [[{ k: 'a"b' }]],
    [[{ k: 'a\nb' }]],
    [[{ env: 'x' }, { ENV: 'x' }]],
    [[{ 'csys-nope': 'a' }]],
    [[{ 'csys-consumer-id': 'a' }]],
    [[{ 'csys-location-lat': '91' }]],
    [[{ k: 5 }]],
  ])('refuses %j', async (labels) => {
    const answer = await patch(labels);
    expect([answer.status, answer.body.error_code]).toEqual([400, 'bad_parameters_error']);
    expect(answer.body.field).toMatch(/^labels/);
  });

  it('lists keys, values and the reserved keys', async () => {
    expect((await call('GET', '/labels/blueprints')).body.items).toEqual(['env', 'team']);
    expect((await call('GET', '/labels/blueprints/env?_size=1')).body).toMatchObject({
      items: ['dev'],
      metadata: { pagination: { total: 2 } },
    });
    expect((await call('GET', '/labels/blueprints/nosuch')).body.items).toEqual([]);
    expect((await call('GET', '/labels/blueprints/no%20key')).body.error_code).toBe('bad_parameters_error');
    expect((await call('GET', '/labels/blueprints?_sort=key')).body.error_code).toBe('bad_parameters_error');
    expect((await call('GET', '/labels/blueprints?_reserved=true')).body.metadata.pagination.total).toBe(11);
  });
});

it('summarizes and pages', async () => {
  expect(
    (await call('GET', '/summary/blueprints?_target_field=visibility&_sub_field=tenant_name')).body.items,
  ).toEqual([
    {
      visibility: 'tenant',
      blueprints: 4,
      'by tenant_name': [{ tenant_name: 'default_tenant', blueprints: 4 }],
    },
  ]);
  expect((await call('GET', '/summary/blueprints?_target_field=visibility&_search=one')).body.items).toEqual([
    { visibility: 'tenant', blueprints: 1 },
  ]);
  expect((await call('GET', '/summary/blueprints?_target_field=state')).status).toBe(400);
  await call('PUT', '/filters/blueprints/teams', {
    json: { filter_rules: [rule('team', 'is_not_null', [])] },
  });
  const filtered = (id: string) =>
    call('GET', `/summary/blueprints?_target_field=visibility&_filter_id=${id}`);
  const listed = await ids(call('GET', '/blueprints?_filter_id=teams&_include=id'));
  expect(listed).toEqual(['one', 'two']);
  expect((await filtered('teams')).body.items).toEqual([{ visibility: 'tenant', blueprints: listed.length }]);
  const [refused, inList] = [await filtered('nosuch'), await call('GET', '/blueprints?_filter_id=nosuch')];
  expect([refused.status, refused.body.message]).toEqual([404, inList.body.message]);
  const page = (query: string) => call('GET', `/blueprints?_include=id&${query}`);
  expect(await ids(page('_sort=-id&_size=2&_offset=1'))).toEqual(['one', 'many']);
  expect((await page('_size=0')).body).toMatchObject({
    items: [],
    metadata: { pagination: { total: 4, size: 0 }, filtered: null },
  });
  expect(await ids(page('_search=AN'))).toEqual(['many']);
  expect((await page('nope=x')).body.error_code).toBe('bad_parameters_error');
  expect((await call('GET', '/blueprints?_include=nope')).body.error_code).toBe(
    'no_such_include_field_error',
  );
});

it('the list of filters has no filters of its own: further parameters are passed over (reference 3.2)', async () => {
  const all = await call('GET', '/filters/blueprints');
  expect((await call('GET', '/filters/blueprints?nosuch=1')).body).toEqual(all.body);
  expect((await call('GET', '/filters/blueprints?_size=-1')).status).toBe(400);
});
