import { attributeOperators, labelOperators, ruleAttributes } from '@baton/contracts';
import {
  ATTRIBUTE_OPERATORS,
  ATTRIBUTES,
  changeRule,
  entryOf,
  faultsOf,
  LABEL_OPERATORS,
  NEW_RULE,
  operatorsFor,
  ruleOf,
  ruleText,
  wouldKeepRules,
} from './filter-rules';

test('operators and attributes are those of the API', () => {
  expect([LABEL_OPERATORS, ATTRIBUTE_OPERATORS]).toEqual([labelOperators, attributeOperators]);
  for (const kind of ['deployments', 'blueprints'] as const) {
    expect(ATTRIBUTES[kind]).toEqual(Object.keys(ruleAttributes[kind]));
    for (const [key, allowed] of Object.entries(ruleAttributes[kind]))
      expect(operatorsFor({ type: 'attribute', key })).toEqual(
        allowed === 'all' ? attributeOperators : allowed,
      );
  }
});

test('a rule keeps its meaning through the form', () => {
  const rule = { type: 'label', key: 'env', operator: 'any_of', values: ['a', 'b c'] };
  expect(ruleOf(entryOf(rule))).toEqual(rule);
  expect(ruleOf({ ...NEW_RULE, key: ' env ', values: ' a \n\na\nb ' }).values).toEqual(['a', 'b']);
  expect(ruleOf({ ...NEW_RULE, key: 'env', operator: 'is_null', values: 'left over' }).values).toEqual([]);
});

test('an operator that does not fit any more is changed', () => {
  const label = { ...NEW_RULE, key: 'env', operator: 'is_not' };
  const attribute = changeRule(label, { type: 'attribute' }, 'deployments');
  expect(attribute).toMatchObject({ key: 'blueprint_id', operator: 'any_of' });
  expect(changeRule(attribute, { key: 'schedules' }, 'deployments').operator).toBe('is_not_empty');
  expect(changeRule(label, { key: 'x' }, 'deployments').operator).toBe('is_not');
});

test('what is missing is said at its rule', () => {
  const rules = [{ ...NEW_RULE, key: 'a', values: 'x' }, NEW_RULE, { ...NEW_RULE, key: 'b' }];
  expect(Object.keys(faultsOf(rules))).toEqual(['filter_rules[1]', 'filter_rules[2]']);
  expect(faultsOf([{ ...NEW_RULE, key: 'a', operator: 'is_null' }])).toEqual({});
});

test('rules of a type that is gone would be kept', () => {
  const label = ruleOf({ ...NEW_RULE, key: 'a', values: 'x' });
  const attribute = { ...label, type: 'attribute', key: 'id' };
  expect(wouldKeepRules([label, attribute], [label])).toBe(true);
  expect(wouldKeepRules([label, attribute], [attribute, { ...label, key: 'b' }])).toBe(false);
  expect(wouldKeepRules([label], [])).toBe(true);
});

test('a rule in words', () =>
  expect(ruleText({ type: 'label', key: 'env', operator: 'any_of', values: ['a', 'b'] })).toBe(
    'Label env is one of a or b',
  ));
