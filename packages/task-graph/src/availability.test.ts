import { workflowAvailability } from './availability';

const model = (...states: (string | null)[]) => ({
  nodes: [{ type_hierarchy: ['root', 'type1'] }, { type_hierarchy: ['root', 'type2'] }],
  nodeInstances: states.map((state) => ({ state })),
});

const isAvailable = (rules: Parameters<typeof workflowAvailability>[0], ...states: (string | null)[]) =>
  workflowAvailability(rules, model(...states)).isAvailable;

test.each([
  ['all', [], true],
  ['all', ['started', 'started'], true],
  ['all', ['started', 'foo'], false],
  ['none', [], true],
  ['none', ['foo'], true],
  ['none', ['started', 'foo'], false],
  ['partial', [], false],
  ['partial', ['started', 'started'], false],
  ['partial', ['uninitialized', 'deleted', null], false],
  ['partial', ['stopped', 'started'], true],
  ['partial', ['uninitialized', 'started'], true],
  ['partial', ['stopped', 'uninitialized'], true],
  ['partial', ['stopped', 'stopped'], true],
] as const)('%s with %j: %s', (kind, states, expected) => {
  expect(isAvailable({ node_instances_active: [kind] }, ...states)).toBe(expected);
});

test('several kinds are alternatives, all other rules must hold', () => {
  expect(isAvailable({ node_instances_active: ['none', 'all'] }, 'started')).toBe(true);
  expect(isAvailable({ node_types_required: ['type3'] })).toBe(false);
  expect(isAvailable({ node_types_required: ['type3', 'type2'] })).toBe(true);
  expect(isAvailable({ node_types_required: [], available: true })).toBe(true);
  expect(isAvailable({ available: null })).toBe(true);
  expect(isAvailable({ available: false })).toBe(false);
  expect(isAvailable(null)).toBe(true);
  expect(workflowAvailability({ node_types_required: ['a', 'b'] }, model()).reason).toContain('a, b');
});
