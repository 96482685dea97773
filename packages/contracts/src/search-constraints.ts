/** Constraints of POST /searches/{kind} (reference/rest-api.md 5.11): another notation of filter rules. */
import { badParameter, isJsonObject, nearestName } from '@baton/kernel';
import type { AttributeOperator, FilterRule } from './filter-rules';
import { labelError, parseLabels } from './labels';

const PATTERN_OPERATORS: Record<string, AttributeOperator> = {
  contains: 'contains',
  starts_with: 'starts_with',
  ends_with: 'ends_with',
  equals_to: 'any_of',
};

export interface SearchConstraints {
  rules: FilterRule[];
  /** Id of a stored filter whose rules apply too. */
  filterId: string | null;
  /** Tenants to which the result is limited; null: the tenant of the request. */
  tenants: string[] | null;
  /** Keys that this kind accepts besides the general ones: blueprint_id, deployment_id. */
  rest: Record<string, unknown>;
}

function texts(value: unknown, field: string): string[] {
  const list = Array.isArray(value) ? value : [value];
  if (list.some((v) => typeof v !== 'string'))
    throw badParameter(field, `${field} must be a text or a list of texts`);
  return list as string[];
}

const jsonTexts = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).map((one) =>
    typeof one === 'string' ? one : JSON.stringify(one),
  );

function patternRules(pattern: unknown, attribute: string, field: string): FilterRule[] {
  if (!isJsonObject(pattern))
    throw badParameter(field, `${field} must be an object`, { expected: Object.keys(PATTERN_OPERATORS) });
  return Object.entries(pattern).map(([name, value]): FilterRule => {
    const operator = Object.hasOwn(PATTERN_OPERATORS, name) ? PATTERN_OPERATORS[name]! : null;
    if (operator === null) {
      const nearest = nearestName(name, Object.keys(PATTERN_OPERATORS));
      throw badParameter(`${field}.${name}`, `${name} is no name pattern`, {
        expected: Object.keys(PATTERN_OPERATORS),
        nearest,
      });
    }
    return { key: attribute, values: texts(value, `${field}.${name}`), operator, type: 'attribute' };
  });
}

function labelRules(value: unknown): FilterRule[] {
  const labels = parseLabels(value, 'constraints.labels');
  if (!labels.ok) throw labelError(labels.error);
  return labels.value.map(
    (l): FilterRule => ({ key: l.key, values: [l.value], operator: 'any_of', type: 'label' }),
  );
}

/**
 * Reads the `constraints` of a search. `nameAttribute`: the attribute that name_pattern and valid_values test;
 * `nameAliases`: other spellings of name_pattern (display_name_specs of deployments); `patterns`: patterns of other
 * attributes (operation_name_specs of nodes); `valuesAttribute`: the attribute that valid_values test instead; `extra`:
 * additional keys of the kind. `skipsUnknown`: unknown keys are ignored, as in managers of the original.
 * @throws AppError bad_parameters_error with the name of the key.
 */
export function parseConstraints(
  input: unknown,
  kind: {
    nameAttribute: string;
    nameAliases?: readonly string[];
    valuesAttribute?: string;
    /** valid_values may be of any JSON type; they are converted to texts, as values of that type are compared. */
    hasAnyValues?: boolean;
    patterns?: Readonly<Record<string, string>>;
    extra?: readonly string[];
    skipsUnknown?: boolean;
  },
): SearchConstraints {
  if (!isJsonObject(input))
    throw badParameter('constraints', 'constraints must be an object', { expected: 'object' });
  const patterns: Record<string, string> = { ...kind.patterns };
  for (const name of ['name_pattern', ...(kind.nameAliases ?? [])]) patterns[name] = kind.nameAttribute;
  const known = [
    ...Object.keys(patterns),
    'valid_values',
    'filter_id',
    'labels',
    'tenants',
    ...(kind.extra ?? []),
  ];
  const found: SearchConstraints = { rules: [], filterId: null, tenants: null, rest: {} };
  for (const [key, value] of Object.entries(input)) {
    const field = `constraints.${key}`;
    if (!known.includes(key)) {
      if (kind.skipsUnknown) continue;
      throw badParameter(field, `${key} is no constraint of this search`, {
        expected: known,
        nearest: nearestName(key, known),
      });
    }
    const attribute = patterns[key];
    if (attribute !== undefined) found.rules.push(...patternRules(value, attribute, field));
    else if (key === 'valid_values') {
      found.rules.push({
        key: kind.valuesAttribute ?? kind.nameAttribute,
        values: kind.hasAnyValues ? jsonTexts(value) : texts(value, field),
        operator: 'any_of',
        type: 'attribute',
      });
    } else if (key === 'labels') found.rules.push(...labelRules(value));
    else if (key === 'filter_id') found.filterId = texts(value, field)[0] ?? null;
    else if (key === 'tenants') found.tenants = texts(value, field);
    else found.rest[key] = value;
  }
  return found;
}
