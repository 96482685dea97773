/** Applies filter rules (reference/rest-api.md 4.3) to values in memory; packages/postgres does the same in SQL. Pure. */
import type { FilterRule } from '@baton/contracts';

/**
 * Whether the rule holds for an attribute with these values: for at least one of them, or, for operators with "not", for none. The
 * searched objects have no labels.
 */
export function fitsRule(rule: FilterRule, values: readonly string[]): boolean {
  if (rule.type === 'label') return rule.operator === 'is_null' || rule.operator === 'is_not';
  const some = (test: (value: string, wanted: string) => boolean): boolean =>
    values.some((value) => rule.values.some((wanted) => test(value, wanted)));
  const unlessEmpty = (test: (value: string, wanted: string) => boolean): boolean =>
    rule.values.length === 0 || some(test);
  switch (rule.operator) {
    case 'any_of':
      return some((value, wanted) => value === wanted);
    case 'not_any_of':
      return !some((value, wanted) => value === wanted);
    case 'contains':
      return unlessEmpty((value, wanted) => value.includes(wanted));
    case 'not_contains':
      return !some((value, wanted) => value.includes(wanted));
    case 'starts_with':
      return unlessEmpty((value, wanted) => value.toLowerCase().startsWith(wanted.toLowerCase()));
    case 'ends_with':
      return unlessEmpty((value, wanted) => value.toLowerCase().endsWith(wanted.toLowerCase()));
    case 'is_not_empty':
      return values.length > 0;
  }
}
