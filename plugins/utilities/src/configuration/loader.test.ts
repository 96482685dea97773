import { testNode } from '@baton/plugin-sdk/testing';
import plugin from '../plugin';
import { mergeDeep, paramsForNode } from './merge';

const loader = (parameters_json: unknown) =>
  testNode(plugin, 'cloudify.nodes.ConfigurationLoader', { properties: { parameters_json } as never });

it('loads a dictionary or a text of JSON, and adds later parameters', async () => {
  const node = loader('{"a": {"x": 1}, "b": 2}');
  await node.run('configure');
  expect(node.runtimeProperties).toEqual({ params: { a: { x: 1 }, b: 2 } });
  await node.run('configure', { parameters: { a: { y: 2 } } });
  expect(node.runtimeProperties).toEqual({ params: { a: { y: 2 }, b: 2 } });
  await node.run('configure', { parameters: '{"a": {"x": 3}}', merge_dicts: true });
  expect(node.runtimeProperties).toEqual({ params: { a: { y: 2, x: 3 }, b: 2 } });
});

it.each([
  ['{', 'the text is no JSON'],
  ['[1]', 'expected a dictionary'],
  [[1], 'expected a dictionary'],
])('refuses %j', async (parameters, message) => {
  await expect(loader('').run('configure', { parameters })).rejects.toThrow(message);
});

it('gives a node its part, and tells what changed', () => {
  const properties = { params_list: ['a', 'b'], params: { own: 1 } };
  const first = paramsForNode({ a: 1, b: 2, c: 3 }, properties, {});
  expect(first).toEqual({
    a: 1,
    b: 2,
    own: 1,
    old_params: { old_params: {} },
    diff_params: ['a', 'b', 'own'],
  });
  const second = paramsForNode({ a: 1, b: { x: 1 } }, properties, first);
  expect(second).toMatchObject({
    a: 1,
    b: { x: 1 },
    diff_params: ['b'],
    old_params: { a: 1, b: 2, own: 1, old_params: {} },
  });
  expect(() => paramsForNode({}, {}, {})).toThrow('the node needs the properties params_list');
});

it('merges no deeper than its limit, and no objects of the language', () => {
  let deep: never = {} as never;
  for (let i = 0; i < 200; i++) deep = { a: deep } as never;
  expect(() => mergeDeep(deep, deep)).toThrow('nested deeper than');
  mergeDeep({}, JSON.parse('{"__proto__": {"polluted": 1}}'));
  expect(({} as { polluted?: number }).polluted).toBeUndefined();
});
