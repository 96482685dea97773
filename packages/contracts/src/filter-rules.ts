/**
 * Filter rules of stored filters and searches (reference/rest-api.md 4.3) and the constraints of searches (5.11).
 * Pure: packages/postgres turns checked rules into SQL.
 */
import { AppError, err, nearestName, ok, type Result } from '@baton/kernel';
import { normalizeLabelKey, normalizeLabelValue } from './labels';

export const labelOperators = ['any_of', 'not_any_of', 'is_not', 'is_null', 'is_not_null'] as const;
export const attributeOperators = [
  'any_of',
  'not_any_of',
  'contains',
  'not_contains',
  'starts_with',
  'ends_with',
  'is_not_empty',
] as const;
export type LabelOperator = (typeof labelOperators)[number];
export type AttributeOperator = (typeof attributeOperators)[number];

export type FilterRule =
  | { key: string; values: string[]; operator: LabelOperator; type: 'label' }
  | { key: string; values: string[]; operator: AttributeOperator; type: 'attribute' };

/** Attribute keys that rules on a resource may use, with the operators when not all are allowed. */
export type RuleAttributes = Readonly<Record<string, readonly AttributeOperator[] | 'all'>>;

/** reference 4.3; resources that are not listed accept no attribute rules. */
export const ruleAttributes = {
  blueprints: { created_by: 'all', state: 'all', id: 'all', tenant_name: 'all' },
  deployments: {
    blueprint_id: 'all',
    created_by: 'all',
    site_name: 'all',
    schedules: ['is_not_empty'],
    id: 'all',
    tenant_name: 'all',
    display_name: 'all',
    installation_status: 'all',
  },
  nodes: { id: 'all', type: 'all', operation_name: 'all' },
  nodeInstances: { id: 'all' },
  secrets: { key: 'all', provider_name: 'all' },
} as const satisfies Record<string, RuleAttributes>;

/** The reason why a rule is refused; becomes `invalid_filter_rule` with err_filter_rule and err_reason. */
export interface RuleFault {
  rule: unknown;
  reason: string;
  /** Path of the rule: `filter_rules[0]`. */
  field: string;
  nearest?: string;
}

const MAX_RULES = 1000;
const RULE_KEYS = ['key', 'values', 'operator', 'type'];
const VALUELESS: readonly string[] = ['is_null', 'is_not_null', 'is_not_empty'];

type Refusal = { reason: string; nearest?: string };

function unknownName(kind: string, name: unknown, valid: readonly string[]): Refusal {
  const nearest = typeof name === 'string' ? nearestName(name, valid) : null;
  const reason = `${kind} ${JSON.stringify(name)} is not one of ${valid.join(', ')}`;
  return nearest === null ? { reason } : { reason, nearest };
}

function checkShape(rule: unknown): Refusal | null {
  if (typeof rule !== 'object' || rule === null || Array.isArray(rule))
    return { reason: 'a rule must be an object' };
  const keys = Object.keys(rule);
  const missing = RULE_KEYS.filter((k) => !keys.includes(k));
  if (missing.length > 0) return { reason: `the rule lacks ${missing.join(', ')}` };
  const extra = keys.find((k) => !RULE_KEYS.includes(k));
  if (extra !== undefined) return unknownName('rule key', extra, RULE_KEYS);
  const values = (rule as { values: unknown }).values;
  if (!Array.isArray(values) || values.some((v) => typeof v !== 'string'))
    return { reason: 'values must be a list of texts' };
  return null;
}

function checkLabelRule(rule: {
  key: unknown;
  values: string[];
  operator: LabelOperator;
}): Result<FilterRule, Refusal> {
  const key = normalizeLabelKey(rule.key);
  if (!key.ok) return err({ reason: key.error });
  if (!VALUELESS.includes(rule.operator) && rule.values.length === 0) {
    return err({ reason: `operator ${rule.operator} needs at least one value` });
  }
  const values: string[] = [];
  for (const raw of rule.values) {
    const value = normalizeLabelValue(key.value, raw);
    if (!value.ok) return err({ reason: value.error });
    values.push(value.value);
  }
  return ok({ key: key.value, values, operator: rule.operator, type: 'label' });
}

function checkAttributeRule(
  rule: { key: unknown; values: string[]; operator: AttributeOperator },
  attributes: RuleAttributes,
): Result<FilterRule, Refusal> {
  const { key, values, operator } = rule;
  const allowed = typeof key === 'string' && Object.hasOwn(attributes, key) ? attributes[key] : undefined;
  if (typeof key !== 'string' || allowed === undefined)
    return err(unknownName('attribute', key, Object.keys(attributes)));
  if (allowed !== 'all' && !allowed.includes(operator))
    return err(unknownName(`operator for ${key}`, operator, allowed));
  return ok({ key, values, operator, type: 'attribute' });
}

function checkRule(rule: unknown, attributes: RuleAttributes): Result<FilterRule, Refusal> {
  const shape = checkShape(rule);
  if (shape !== null) return err(shape);
  const { key, values, operator, type } = rule as {
    key: unknown;
    values: string[];
    operator: unknown;
    type: unknown;
  };
  if (type !== 'label' && type !== 'attribute') return err(unknownName('type', type, ['label', 'attribute']));
  const operators: readonly string[] = type === 'label' ? labelOperators : attributeOperators;
  if (typeof operator !== 'string' || !operators.includes(operator)) {
    return err(unknownName(`operator of a rule of type ${type}`, operator, operators));
  }
  if (VALUELESS.includes(operator) && values.length > 0)
    return err({ reason: `operator ${operator} takes no values` });
  return type === 'label'
    ? checkLabelRule({ key, values, operator: operator as LabelOperator })
    : checkAttributeRule({ key, values, operator: operator as AttributeOperator }, attributes);
}

const isSameRule = (a: FilterRule, b: FilterRule): boolean =>
  a.key === b.key &&
  a.type === b.type &&
  a.operator === b.operator &&
  a.values.length === b.values.length &&
  a.values.every((value, at) => value === b.values[at]);

/** Checks and normalises the rules of a request; `attributes` is a member of `ruleAttributes`. */
export function parseFilterRules(
  input: unknown,
  attributes: RuleAttributes,
  field = 'filter_rules',
): Result<FilterRule[], RuleFault> {
  if (!Array.isArray(input)) return err({ rule: input, reason: `${field} must be a list of rules`, field });
  if (input.length > MAX_RULES)
    return err({ rule: null, reason: `at most ${MAX_RULES} rules are taken`, field });
  const rules: FilterRule[] = [];
  for (const [index, raw] of input.entries()) {
    const rule = checkRule(raw, attributes);
    if (!rule.ok) return err({ rule: raw, field: `${field}[${index}]`, ...rule.error });
    // Of equal rules only one is kept.
    if (!rules.some((known) => isSameRule(known, rule.value))) rules.push(rule.value);
  }
  return ok(rules);
}

/**
 * Merges the rules of a change into the stored ones. Rules of one type replace the stored rules of that type and come
 * after the others; rules of both types replace all. An empty list is no change, as in the original.
 */
export function mergeFilterRules(old: readonly FilterRule[], given: readonly FilterRule[]): FilterRule[] {
  const types = new Set(given.map(({ type }) => type));
  if (types.size === 0) return [...old];
  return types.size === 1 ? [...old.filter(({ type }) => !types.has(type)), ...given] : [...given];
}

/** Makes the error answer for a refused rule (reference 1.1, 4.3). A value that is no list is a bad parameter, not a bad rule. */
export function filterRuleError(fault: RuleFault): AppError {
  const details = { field: fault.field, ...(fault.nearest === undefined ? {} : { nearest: fault.nearest }) };
  if (!fault.field.endsWith(']'))
    return new AppError('bad_parameters_error', fault.reason, {
      ...details,
      expected: 'a list of filter rules',
    });
  const message = `Invalid filter rule ${JSON.stringify(fault.rule)?.slice(0, 500)}: ${fault.reason}`;
  return new AppError('invalid_filter_rule', message, {
    ...details,
    err_filter_rule: fault.rule,
    err_reason: fault.reason,
  });
}
