/** Rules of a filter: in the form, in the format of the API, and as text. */
import { t } from '../../text/text';

export const FILTER_KINDS = ['deployments', 'blueprints'] as const;
export type FilterKind = (typeof FILTER_KINDS)[number];
/** Returns the kind in an address; an unknown word counts as the first kind. */
export const kindOf = (text: string | undefined): FilterKind =>
  FILTER_KINDS.find((one) => one === text) ?? FILTER_KINDS[0];

export type RuleType = 'label' | 'attribute';

/** A rule in the format of the API. */
export interface FilterRule {
  type: string;
  key: string;
  operator: string;
  values: string[];
}
/** A rule in the form, with one value per line. */
export interface RuleEntry {
  type: RuleType;
  key: string;
  operator: string;
  values: string;
}

/** filter-rules.test.ts compares these lists with the contracts of the API. */
export const LABEL_OPERATORS = ['any_of', 'not_any_of', 'is_not', 'is_null', 'is_not_null'] as const;
export const ATTRIBUTE_OPERATORS = [
  'any_of',
  'not_any_of',
  'contains',
  'not_contains',
  'starts_with',
  'ends_with',
  'is_not_empty',
] as const;
const WITHOUT_VALUES: readonly string[] = ['is_null', 'is_not_null', 'is_not_empty'];

export const ATTRIBUTES: Readonly<Record<FilterKind, readonly string[]>> = {
  deployments: [
    'blueprint_id',
    'created_by',
    'site_name',
    'schedules',
    'id',
    'tenant_name',
    'display_name',
    'installation_status',
  ],
  blueprints: ['created_by', 'state', 'id', 'tenant_name'],
};

/** Returns the operators that are valid for the rule. */
export function operatorsFor({ type, key }: Pick<RuleEntry, 'type' | 'key'>): readonly string[] {
  if (type === 'label') return LABEL_OPERATORS;
  return key === 'schedules' ? ['is_not_empty'] : ATTRIBUTE_OPERATORS;
}

export const takesValues = (operator: string): boolean => !WITHOUT_VALUES.includes(operator);

export const NEW_RULE: RuleEntry = { type: 'label', key: '', operator: 'any_of', values: '' };

/** Changes a rule. An operator that becomes invalid is replaced by the first valid one. */
export function changeRule(rule: RuleEntry, change: Partial<RuleEntry>, kind: FilterKind): RuleEntry {
  const next = { ...rule, ...change };
  if (change.type !== undefined && change.type !== rule.type)
    next.key = change.type === 'attribute' ? ATTRIBUTES[kind][0]! : '';
  const operators = operatorsFor(next);
  return operators.includes(next.operator) ? next : { ...next, operator: operators[0]! };
}

export const entryOf = ({ type, key, operator, values }: FilterRule): RuleEntry => ({
  type: type === 'attribute' ? 'attribute' : 'label',
  key,
  operator,
  values: values.join('\n'),
});

export const ruleOf = ({ type, key, operator, values }: RuleEntry): FilterRule => ({
  type,
  key: key.trim(),
  operator,
  values: takesValues(operator) ? linesOf(values) : [],
});

const linesOf = (text: string): string[] => [
  ...new Set(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  ),
];

/** Returns the missing parts, by the name of the field in the request body. */
export function faultsOf(rules: readonly RuleEntry[]): Record<string, string> {
  return Object.fromEntries(
    rules.flatMap((entry, at) => {
      const { key, operator, values } = ruleOf(entry);
      if (key === '') return [[`filter_rules[${at}]`, t.filters.faults.key]];
      return takesValues(operator) && values.length === 0
        ? [[`filter_rules[${at}]`, t.filters.faults.values]]
        : [];
    }),
  );
}

/** Whether a change would keep removed rules: if the request has no rule of a type, the API keeps the old rules of this type. */
export function wouldKeepRules(before: readonly FilterRule[], after: readonly FilterRule[]): boolean {
  const types = new Set(after.map(({ type }) => type));
  return before.some(({ type }) => !types.has(type));
}

/** `label env is one of prod, test`. */
export const ruleText = ({ type, key, operator, values }: FilterRule): string =>
  [
    t.filters.types[type as RuleType] ?? type,
    key,
    t.filters.operators[operator] ?? operator,
    values.join(t.filters.or),
  ]
    .filter(Boolean)
    .join(' ');
