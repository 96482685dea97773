import { parseFilterRules, ruleAttributes } from './filter-rules';

const rule = (key: string, values: string[], operator = 'any_of', type = 'label') => ({
  key,
  values,
  operator,
  type,
});

test('of rules that say the same, one is kept', () => {
  const given = [rule('a', ['b']), rule('created_by', ['x'], 'any_of', 'attribute'), rule('A', ['b'])];
  const rules = parseFilterRules(given, ruleAttributes.deployments);
  expect(rules.ok && rules.value).toEqual(given.slice(0, 2));
  const apart = [rule('a', ['b']), rule('a', ['b'], 'is_not'), rule('a', ['b', 'c']), rule('a', ['c'])];
  const kept = parseFilterRules(apart, ruleAttributes.deployments);
  expect(kept.ok && kept.value).toEqual(apart);
});
