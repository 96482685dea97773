import { entriesOf, faultsOf, NEW_RULE, rulesOf } from './mapping-entry';

test('rules come back unchanged, each with what it gives alone', () => {
  const mapping = [
    { group: 'platform-admins', role: 'sys_admin' },
    { group: ' with spaces ', tenants: [{ name: 'shop', role: 'operations' }] },
  ];
  expect(rulesOf(entriesOf(mapping))).toEqual(mapping);
});

test('a rule without a group, and one that gives nothing, are told by their place', () => {
  expect(faultsOf([NEW_RULE, { group: 'a', role: '', tenants: [[' ', 'user']] }])).toEqual({
    'mapping[0].group': 'The group is missing.',
    'mapping[1]': 'This rule gives nothing: choose a role, or add a tenant.',
  });
  expect(faultsOf([{ ...NEW_RULE, group: 'a', role: 'default' }])).toEqual({});
});
