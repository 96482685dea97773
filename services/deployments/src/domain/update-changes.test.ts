import { type ParsedPlan, updateSteps } from '@baton/dsl';
import { describeChanges } from './update-changes';

type Plan = Parameters<typeof describeChanges>[0];

const LIFECYCLE = 'cloudify.interfaces.lifecycle';
const operation = (name: string, inputs: object = {}) => ({ plugin: 'p', operation: name, inputs });
const link = (target: string, more: object = {}) => ({
  type: 'cloudify.relationships.connected_to',
  type_hierarchy: ['cloudify.relationships.connected_to'],
  target_id: target,
  properties: {},
  source_operations: {},
  target_operations: {},
  ...more,
});
const node = (id: string, more: object = {}) => ({
  id,
  type: 'cloudify.nodes.Root',
  properties: {},
  operations: {},
  relationships: [],
  plugins: [],
  plugins_to_install: [],
  ...more,
});
const plan = (nodes: object[], more: object = {}): Plan =>
  ({ nodes, outputs: {}, workflows: {}, groups: {}, description: null, ...more }) as unknown as ParsedPlan;
const changes = (before: Plan, after: Plan) =>
  describeChanges(before, after, updateSteps(before, after).steps);

test('a property has its values on both sides, and the effect that its node allows', () => {
  const with_ = (port: unknown, operations: object) =>
    plan([node('a', { properties: { port }, operations })]);
  const effectOf = (operations: object) => changes(with_(1, operations), with_(2, operations))[0]!.effect;
  expect(changes(with_(80, {}), with_({ http: 80 }, {}))).toEqual([
    {
      action: 'modify',
      entity_type: 'property',
      node_id: 'a',
      path: ['properties', 'port'],
      before: 80,
      after: { http: 80 },
      effect: 'reinstall',
    },
  ]);
  expect(effectOf({ [`${LIFECYCLE}.update`]: operation('p.update') })).toBe('update');
  expect(effectOf({ [`${LIFECYCLE}.check_drift`]: operation('p.check') })).toBe('check');
  // The type declares the operation without an implementation.
  expect(effectOf({ [`${LIFECYCLE}.update`]: operation('') })).toBe('reinstall');
});

test('what comes or goes has no value on one side', () => {
  const before = plan([node('a', { properties: { old: null } }), node('gone', { properties: { x: 1 } })]);
  const after = plan([node('a', { properties: { fresh: false } }), node('new')]);
  const found = changes(before, after).map((one) => [
    one.action,
    one.path,
    one.before,
    one.after,
    one.effect,
  ]);
  expect(found).toEqual(
    expect.arrayContaining([
      ['remove', [], { type: 'cloudify.nodes.Root', properties: { x: 1 } }, null, 'uninstall'],
      ['add', [], null, { type: 'cloudify.nodes.Root', properties: {} }, 'install'],
      ['add', ['properties', 'fresh'], null, false, 'reinstall'],
      ['remove', ['properties', 'old'], null, null, 'reinstall'],
    ]),
  );
});

test('relationships are told by type and target; their operations are compared with those of the same one', () => {
  const side = (input: number) => ({ source_operations: { establish: operation('p.link', { input }) } });
  const before = plan([node('a'), node('b'), node('c', { relationships: [link('a'), link('b', side(1))] })]);
  const after = plan([node('a'), node('b'), node('c', { relationships: [link('b', side(2))] })]);
  const found = changes(before, after);
  const of = (action: string, type: string) =>
    found.find((one) => one.action === action && one.entity_type === type)!;
  expect(of('remove', 'relationship')).toMatchObject({
    node_id: 'c',
    before: { type: 'cloudify.relationships.connected_to', target_id: 'a' },
    after: null,
    effect: 'unlink',
  });
  expect(of('modify', 'relationship')).toMatchObject({
    before: { target_id: 'b' },
    after: { target_id: 'b' },
    effect: 'none',
  });
  expect(of('modify', 'operation')).toMatchObject({
    before: { inputs: { input: 1 } },
    after: { inputs: { input: 2 } },
    effect: 'reinstall',
  });
  expect(
    changes(
      after,
      plan([node('a'), node('b'), node('c', { relationships: [link('b', side(2)), link('a')] })]),
    ),
  ).toMatchObject([{ action: 'add', effect: 'establish', after: { target_id: 'a' } }]);
});

test('what touches no resource says so, with its values', () => {
  const before = plan([node('a')], { outputs: { x: { value: 1 } }, description: 'old' });
  const after = plan([node('a', { plugins: [{ name: 'p', executor: 'central', package_version: '2' }] })], {
    outputs: { x: { value: 2 } },
    description: 'new',
  });
  expect(changes(before, after)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        path: ['description'],
        before: 'old',
        after: 'new',
        effect: 'none',
        node_id: null,
      }),
      expect.objectContaining({
        path: ['outputs', 'x'],
        before: { value: 1 },
        after: { value: 2 },
        effect: 'none',
      }),
      expect.objectContaining({ node_id: 'a', path: ['plugins', 'p'], before: null, effect: 'none' }),
    ]),
  );
});

test('what an update cannot carry out is refused', () => {
  const [change] = changes(plan([node('a')]), plan([node('a', { type: 'other.Type' })]));
  expect(change).toMatchObject({
    effect: 'refused',
    before: { type: 'cloudify.nodes.Root' },
    after: { type: 'other.Type' },
  });
});

test('names of JavaScript are names like others', () => {
  const before = plan([node('a', { properties: {} })]);
  const after = plan([node('a', { properties: JSON.parse('{"__proto__": 1, "constructor": 2}') })]);
  expect(changes(before, after).map(({ path, before: was, after: is }) => [path[1], was, is])).toEqual([
    ['__proto__', null, 1],
    ['constructor', null, 2],
  ]);
});
