import type { FilterRule } from '@baton/contracts';
import { fitsRule } from './rule-match';

const VALUES = ['create', 'cloudify.interfaces.Start'];

test.each<[string, string[], boolean, boolean]>([
  ['any_of', ['create'], true, false],
  ['any_of', ['creat'], false, false],
  ['any_of', [], false, false],
  ['not_any_of', ['create'], false, true],
  ['not_any_of', ['x'], true, true],
  ['contains', ['interfaces'], true, false],
  ['contains', ['INTERFACES'], false, false],
  ['contains', [], true, true],
  ['not_contains', ['eat'], false, true],
  ['not_contains', [], true, true],
  ['starts_with', ['CLOUD'], true, false],
  ['starts_with', ['start'], false, false],
  ['ends_with', ['x', 'start'], true, false],
  ['is_not_empty', [], true, false],
])('%s %j: %s of some, %s of none', (operator, values, ofSome, ofNone) => {
  const rule = { type: 'attribute', key: 'k', operator, values } as FilterRule;
  expect(fitsRule(rule, VALUES)).toBe(ofSome);
  expect(fitsRule(rule, [])).toBe(ofNone);
});

test.each<[string, boolean]>([
  ['any_of', false],
  ['not_any_of', false],
  ['is_not', true],
  ['is_null', true],
  ['is_not_null', false],
])('label %s of what has no labels: %s', (operator, fits) =>
  expect(fitsRule({ type: 'label', key: 'k', operator, values: [] } as unknown as FilterRule, VALUES)).toBe(
    fits,
  ),
);
