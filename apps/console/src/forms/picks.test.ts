import { capabilities, operations, searchConstraints } from './picks';

const ask = (o: Partial<Parameters<typeof searchConstraints>[0]>) =>
  searchConstraints({ picked: 'node_id', constraints: [], place: {}, inputValue: () => undefined, ...o });

test('a name of a model is looked for where the form stands, unless its constraints say it', () => {
  expect(ask({ place: { deploymentId: 'web' } })).toEqual({ deployment_id: 'web' });
  expect(ask({ place: { blueprintId: 'shop' } })).toEqual({ blueprint_id: 'shop' });
  expect(ask({ place: { blueprintId: 'shop' }, constraints: [{ deployment_id: 'other' }] })).toEqual({
    deployment_id: 'other',
  });
  expect(ask({})).toBeNull();
  expect(ask({ picked: 'capability_value', place: { blueprintId: 'shop' } })).toBeNull();
});

test('a constraint may name another input', () => {
  const constraints = [{ deployment_id: { get_input: 'environment' } }];
  expect(ask({ constraints, inputValue: (name) => (name === 'environment' ? 'prod' : undefined) })).toEqual({
    deployment_id: 'prod',
  });
  expect(ask({ constraints: [{ deployment_id: { get_secret: 'x' } }] })).toBeNull();
});

test('patterns have the names that the searches know; other constraints are judged by the form', () => {
  const constraints = [{ name_pattern: { contains: 'a' } }, { labels: [{ a: 'b' }] }, { max_length: 3 }];
  expect(ask({ picked: 'deployment_id', constraints })).toEqual({
    display_name_specs: { contains: 'a' },
    labels: [{ a: 'b' }],
  });
  expect(ask({ picked: 'secret_key', constraints: [{ name_pattern: { starts_with: 'a' } }] })).toEqual({
    key_specs: { starts_with: 'a' },
  });
});

test('operations of several nodes are offered once each', () =>
  expect(operations([{ operations: { b: {}, 'x.a': {} } }, { operations: { b: {} } }, {}], 'B')).toEqual([
    { value: 'b', text: null },
  ]));

test('of capabilities the values are offered', () =>
  expect(
    capabilities({
      items: [{ deployment_id: 'd', capabilities: [{ url: { value: 'http://x' } }, { all: { value: {} } }] }],
    }),
  ).toEqual([{ value: 'http://x', text: 'url' }]));
