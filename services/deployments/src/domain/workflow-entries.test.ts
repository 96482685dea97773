import { isAvailable } from './workflow-entries';

const available = (rules: Record<string, unknown> | null, states: string[], nodeTypes: string[] = []) =>
  isAvailable(rules, { states, nodeTypes });

describe('availability of workflows', () => {
  it.each([
    [['all'], [], true],
    [['all'], ['started'], true],
    [['all'], ['started', 'stopped'], false],
    [['none'], [], true],
    [['none'], ['started', 'stopped'], false],
    [['none'], ['stopped', 'deleted'], true],
    [['partial'], ['started', 'stopped'], true],
    [['partial'], ['stopped'], true],
    [['partial'], ['stopped', 'uninitialized'], true],
    [['partial'], ['uninitialized', 'deleted'], false],
    [['partial'], ['started'], false],
    [['partial'], [], false],
    [['none', 'partial'], ['started'], false],
    [[], ['started'], true],
  ])('node_instances_active %j with states %j: %s', (rule, states, expected) => {
    expect(available({ node_instances_active: rule }, states)).toBe(expected);
  });

  it('needs one of the types, and obeys available: false', () => {
    expect(available({ node_types_required: ['a', 'b'] }, [], ['b'])).toBe(true);
    expect(available({ node_types_required: ['a'] }, [], ['b'])).toBe(false);
    expect(available({ node_types_required: [] }, [], [])).toBe(true);
    expect(available({ available: false }, [])).toBe(false);
    expect(available(null, [])).toBe(true);
  });
});
