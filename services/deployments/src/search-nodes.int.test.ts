import { type Answer, startTestDeployments, type TestDeployments } from './testing/test-deployments';

let test: TestDeployments;
beforeAll(async () => {
  test = await startTestDeployments();
  await test.create('sa');
  await test.create('sd', { blueprint_id: 'derived' });
}, 60_000);
afterAll(() => test.stop());

const code = (answer: Answer) => [answer.status, answer.body?.error_code];
const rule = (key: string, operator: string, values: unknown[], type = 'label') => ({
  key,
  operator,
  values,
  type,
});
const ids = (answer: Answer) => answer.body.items.map((i: { id: string }) => i.id).join();

describe('searches of nodes', () => {
  const found = async (kind: string, body: unknown, by = 'deployment_id=sa') => {
    const answer = await test.call('POST', `/searches/${kind}?_include=id&_sort=id&${by}`, body);
    return answer.status === 200 ? ids(answer) : code(answer);
  };
  const operation = (operator: string, values: string[]) => ({
    filter_rules: [rule('operation_name', operator, values, 'attribute')],
  });

  it.each(['deployment_id=sa', 'blueprint_id=mini'])('take filter rules, operations too (%s)', async (by) => {
    const create = 'cloudify.interfaces.lifecycle.create';
    for (const [body, expected] of [
      [{ filter_rules: [rule('type', 'ends_with', ['root'], 'attribute')] }, 'n'],
      [{ filter_rules: [rule('type', 'not_any_of', ['cloudify.nodes.Root'], 'attribute')] }, ''],
      [operation('any_of', [create]), 'n'],
      [operation('any_of', ['nosuch']), ''],
      [operation('contains', ['lifecycle']), 'n'],
      [operation('not_contains', ['lifecycle']), ''],
      [operation('not_any_of', ['nosuch']), 'n'],
      [operation('not_any_of', [create]), ''],
      [{ constraints: { operation_name_specs: { ends_with: '.CREATE' } } }, 'n'],
      [{ constraints: { operation_name_specs: { equals_to: 'nosuch' } } }, ''],
      [{ constraints: { operation_name_specs: { like: 'x' } } }, [400, 'bad_parameters_error']],
      [{ filter_rules: [rule('env', 'any_of', ['x'])] }, ''],
      [{ filter_rules: [rule('host_id', 'any_of', ['x'], 'attribute')] }, [400, 'invalid_filter_rule']],
      [{ filter_rules: [], constraints: {} }, [400, 'bad_parameters_error']],
    ] as const)
      expect([body, await found('nodes', body, by)]).toEqual([body, expected]);
  });

  it.each(['deployment_id=sd', 'blueprint_id=derived'])(
    'a valid type admits what derives from it (%s)',
    async (by) => {
      const types = (...valid: string[]) => found('node-types', { constraints: { valid_values: valid } }, by);
      expect(await types('cloudify.nodes.Root')).toBe('plain,special');
      expect(await types('my.Kind')).toBe('special');
      expect(await types('cloudify.nodes.Compute')).toBe('');
      const exact = { constraints: { type_specs: { equals_to: 'cloudify.nodes.Root' } } };
      expect(await found('node-types', exact, by)).toBe('plain');
    },
  );

  it('name one model, in the query or in constraints', async () => {
    for (const kind of ['nodes', 'node-types', 'node-instances', 'capabilities', 'scaling-groups']) {
      const asked = async (query: string, constraints: object) =>
        code(await test.call('POST', `/searches/${kind}?${query}`, { constraints }));
      const refused = [400, 'bad_parameters_error'];
      expect([kind, await asked('deployment_id=sa', { deployment_id: 'sa' })]).toEqual([kind, refused]);
      expect([kind, await asked('deployment_id=sa', { blueprint_id: 'mini' })]).toEqual([kind, refused]);
      if (kind !== 'node-instances')
        expect([kind, await asked('', { deployment_id: '' })]).toEqual([kind, refused]);
    }
  });

  it('tell how many there are beside those found', async () => {
    const metadata = async (kind: string, constraints: object, query = '') =>
      (await test.call('POST', `/searches/${kind}?deployment_id=sd&${query}`, { constraints })).body.metadata;
    const name_pattern = { equals_to: 'special' };
    // One node of sa and another one of sd are not found.
    expect(await metadata('nodes', { name_pattern })).toMatchObject({
      filtered: 2,
      pagination: { total: 1 },
    });
    expect(await metadata('nodes', { name_pattern }, '_search=nosuch')).toMatchObject({ filtered: 3 });
    expect(await metadata('nodes', {})).toMatchObject({ filtered: null, pagination: { total: 2 } });
    const starts = { name_pattern: { starts_with: 'special_' } };
    expect(await metadata('node-instances', starts)).toMatchObject({ filtered: 2, pagination: { total: 1 } });
  });

  it('of scaling groups look into every deployment whose id holds the text', async () => {
    const groups = await test.call('POST', '/searches/scaling-groups?deployment_id=nosuch', {});
    expect([groups.status, groups.body.items]).toEqual([200, []]);
  });

  it('of instances take rules on their id; of capabilities and scaling groups none', async () => {
    const rules = (key: string) => ({ filter_rules: [rule(key, 'starts_with', ['n_'], 'attribute')] });
    expect(await found('node-instances', rules('id'))).toMatch(/^n_/);
    expect(
      await found('node-instances', {
        filter_rules: [rule('id', 'contains', ['longer_than_any_id'], 'attribute')],
      }),
    ).toBe('');
    expect(await found('node-instances', rules('state'))).toEqual([400, 'invalid_filter_rule']);
    expect(await found('node-instances', { filter_rules: [], constraints: {} })).toEqual([
      400,
      'bad_parameters_error',
    ]);
    expect(await found('node-instances', { constraints: { name_pattern: { contains: 'n' } } }, '')).toEqual([
      400,
      'bad_parameters_error',
    ]);
    for (const kind of ['capabilities', 'scaling-groups'])
      expect(code(await test.call('POST', `/searches/${kind}?deployment_id=sa`, rules('id')))).toEqual([
        400,
        'bad_parameters_error',
      ]);
  });
});
