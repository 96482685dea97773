import { planDifference } from './plan-difference';

const property = (more: object) =>
  ({ data_types: { t: { properties: { p: { type: 'string', ...more } } } } }) as never;

test.each([
  ['the order of members', { a: 1, b: 2 }, { b: 2, a: 1 }],
  ['a member that is null', { a: 1, b: null }, { a: 1 }],
  ['a text for people in a definition', property({ description: 'x' }), property({})],
  ['what is required by default', property({ required: true }), property({})],
  [
    'the folder of a policy',
    { policy_triggers: { t: { source: '/a/x.clj' } } },
    { policy_triggers: { t: { source: '/b/x.clj' } } },
  ],
])('%s is no difference', (_what, a, b) => expect(planDifference(a, b)).toBeNull());

test.each([
  ['a value', { nodes: [{ id: 'a' }] }, { nodes: [{ id: 'b' }] }, 'nodes.0.id'],
  ['a shorter list', { nodes: [1, 2] }, { nodes: [1] }, 'nodes.1'],
  ['a list that ends with null', { nodes: [1, null] }, { nodes: [1] }, 'nodes.1'],
  ['another kind', { inputs: [] }, { inputs: {} }, 'inputs'],
  ['the whole', [], {}, '(the whole plan)'],
  ['a property of a node', { nodes: [{ description: 'x' }] }, { nodes: [{}] }, 'nodes.0.description'],
  ['an optional property', property({ required: false }), property({}), 'data_types.t.properties.p.required'],
  [
    'a default value',
    property({ default: { description: 'x' } }),
    property({ default: {} }),
    'data_types.t.properties.p.default.description',
  ],
  [
    'a parameter named description',
    { workflows: { w: { parameters: { description: { default: 1 } } } } },
    { workflows: { w: { parameters: {} } } },
    'workflows.w.parameters.description',
  ],
  [
    'another policy',
    { policy_types: { t: { source: '/a/x.clj' } } },
    { policy_types: { t: { source: '/a/y.clj' } } },
    'policy_types.t.source',
  ],
])('%s is a difference', (_what, a, b, path) => expect(planDifference(a as never, b as never)).toBe(path));
