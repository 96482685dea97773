import { isJsonObject, type Json, type JsonObject, nearestName } from '@baton/kernel';
import { type Diagnostic, diagnostic, shownValue } from '../diagnostics/diagnostic';
import { primitiveTypes } from '../elements/primitive-types';
import { isFunction } from '../functions/registry';
import { compilePattern, patternCost } from './pattern';
import { constraintTable, isArgumentFit, searchedByValidValues } from './table';

/** Returns the objects that a value of an object type may name; `query`: the constraints that narrow the search. */
export type ValueGetter = (
  type: string,
  value: Json,
  query: Readonly<Record<string, Json>>,
) => Promise<readonly Json[]> | readonly Json[];

export interface ValueContext {
  getValues?: ValueGetter | null;
  /** Scope of the getter's search; object types inside a deployment need one. */
  hasBlueprint?: boolean;
  hasDeployment?: boolean;
  /** Remaining steps for pattern matching, shared by the values of one request. */
  matching?: { left: number };
}

/** Steps for the patterns of one blueprint or request: about half a second. */
const MATCHING_STEPS = 20_000_000;

export function newMatchingBudget(): { left: number } {
  return { left: MATCHING_STEPS };
}

export interface ConstrainedValue {
  /** `input "port"` or `parameter "n"`. */
  owner: string;
  path: string;
  value: Json;
  type: string | null;
  itemType: string | null;
  constraints: readonly JsonObject[];
}

const QUERY_NAMES: Record<string, string> = {
  blueprint_id: 'id_specs',
  deployment_id: 'display_name_specs',
  secret_key: 'key_specs',
  node_id: 'id_specs',
  node_instance: 'id_specs',
  node_type: 'type_specs',
  capability_value: 'capability_key_specs',
  scaling_group: 'scaling_group_name_specs',
  operation_name: 'operation_name_specs',
};
const EXISTENCE_FIRST = new Set(['blueprint_id', 'deployment_id', 'secret_key']);
const IN_DEPLOYMENT_ONLY = new Set(['capability_value', 'node_instance']);
const IN_BLUEPRINT = new Set(['scaling_group', 'operation_name', 'node_id', 'node_type']);

/** Returns the constraint itself, without its own error text. */
function operatorOf(constraint: JsonObject): { name: string; argument: Json } | null {
  for (const name of Object.keys(constraint))
    if (name !== 'error_message') return { name, argument: constraint[name]! };
  return null;
}

/** Returns all faults of a value (reference 3.3); empty when it has none. */
export async function checkValue(
  target: ConstrainedValue,
  context: ValueContext = {},
): Promise<Diagnostic[]> {
  const { type, itemType, value, constraints } = target;
  const objectType =
    itemType !== null && isObjectType(itemType)
      ? itemType
      : type !== null && isObjectType(type)
        ? type
        : null;
  if (constraints.length === 0 && objectType === null) return [];
  if (isFunction(value)) {
    // an object named by a function is looked up after the evaluation of the function
    if (constraints.length === 0) return [];
    return [
      diagnostic(
        'constraint_with_function',
        `the value of ${target.owner} is a function, but ${target.owner} has constraints`,
        { path: target.path, value, expected: 'a value' },
      ),
    ];
  }
  const found: Diagnostic[] = [];
  const matching = context.matching ?? newMatchingBudget();
  const values = itemType !== null && Array.isArray(value) ? value : [value];
  for (const item of values) {
    for (const constraint of constraints) {
      const fault = checkConstraint(
        { ...target, value: item },
        constraint,
        itemType ?? type,
        objectType,
        matching,
      );
      if (fault) found.push(fault);
    }
    if (objectType !== null && found.length === 0) {
      const fault = await checkObject({ ...target, value: item }, objectType, context);
      if (fault) found.push(fault);
    }
  }
  return found;
}

function isObjectType(type: string): boolean {
  return primitiveTypes.get(type)?.isObject ?? false;
}

function checkConstraint(
  target: ConstrainedValue,
  constraint: JsonObject,
  type: string | null,
  objectType: string | null,
  matching: { left: number },
): Diagnostic | null {
  const operator = operatorOf(constraint);
  const entry =
    operator && Object.hasOwn(constraintTable, operator.name) ? constraintTable[operator.name]! : null;
  if (!operator || !entry) return null;
  const { name, argument } = operator;
  if (entry.searches !== null) {
    if (type !== null && entry.searches.includes(type)) return null;
    return diagnostic(
      'constraint_not_applicable',
      `'${name}' constraint is not defined for '${type ?? 'untyped'}' data types`,
      { path: target.path, value: target.value },
    );
  }
  if (objectType !== null && name === 'valid_values' && searchedByValidValues.has(objectType)) return null;
  // a malformed argument was reported at its declaration
  if (isFunction(argument) || !isArgumentFit(entry, argument)) return null;
  if (name === 'pattern' && typeof target.value === 'string') {
    matching.left -= target.value.length * patternCost(String(argument));
    if (matching.left < 0)
      return diagnostic(
        'limit_exceeded',
        `${target.owner}: the pattern would take too long on so long a value`,
        { path: target.path, expected: 'a shorter value or a simpler pattern' },
      );
  }
  const holds = test(name, target.value, argument);
  if (holds === true) return null;
  if (holds !== false)
    return diagnostic('constraint_not_applicable', `${target.owner}: ${holds}`, {
      path: target.path,
      value: target.value,
    });
  const own = constraint.error_message;
  const shown = shownValue(target.value);
  const message =
    typeof own === 'string'
      ? `Value ${shown} of ${target.owner} is invalid. ${own}`
      : `Value ${shown} of ${target.owner} violates constraint ${name}(${JSON.stringify(argument)}) operator.`;
  return diagnostic('constraint_violated', message, {
    path: target.path,
    value: target.value,
    expected: `${name}: ${JSON.stringify(argument)}`,
  });
}

/** Whether the constraint is met; a text is the reason why it cannot be applied. */
function test(name: string, value: Json, argument: Json): boolean | string {
  switch (name) {
    case 'equal':
      return value === argument;
    case 'greater_than':
      return compare(value, argument, name, (a, b) => a > b);
    case 'greater_or_equal':
      return compare(value, argument, name, (a, b) => a >= b);
    case 'less_than':
      return compare(value, argument, name, (a, b) => a < b);
    case 'less_or_equal':
      return compare(value, argument, name, (a, b) => a <= b);
    case 'in_range': {
      const [low, high] = argument as [Json, Json];
      const above = compare(value, low, name, (a, b) => a >= b);
      return above === true ? compare(value, high, name, (a, b) => a <= b) : above;
    }
    case 'valid_values':
      return (argument as Json[]).some((v) => isSame(v, value));
    case 'length':
      return measure(value, argument, name, (a, b) => a === b);
    case 'min_length':
      return measure(value, argument, name, (a, b) => a >= b);
    case 'max_length':
      return measure(value, argument, name, (a, b) => a <= b);
    case 'pattern': {
      if (typeof value !== 'string') return 'pattern applies to strings only';
      const pattern = compilePattern(argument as string);
      return typeof pattern === 'string'
        ? `the pattern cannot be used: ${pattern}`
        : pattern.matchesStart(value);
    }
    default:
      return true;
  }
}

function compare(
  value: Json,
  argument: Json,
  name: string,
  holds: (a: number, b: number) => boolean,
): boolean | string {
  const number = typeof value === 'boolean' ? Number(value) : value;
  if (typeof number !== 'number' || typeof argument !== 'number')
    return `${name} cannot compare ${shownValue(value)} with ${JSON.stringify(argument)}`;
  return holds(number, argument);
}

function measure(
  value: Json,
  argument: Json,
  name: string,
  holds: (a: number, b: number) => boolean,
): boolean | string {
  const length =
    typeof value === 'string'
      ? [...value].length
      : Array.isArray(value)
        ? value.length
        : isJsonObject(value)
          ? Object.keys(value).length
          : null;
  return length === null ? `${name} applies to strings, lists and dicts` : holds(length, argument as number);
}

/** Whether plain values are equal, in any order of keys. */
export function isSame(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((v, i) => isSame(v, b[i]!))
    );
  }
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isSame(a[key]!, b[key]!))
  );
}

async function checkObject(
  target: ConstrainedValue,
  type: string,
  context: ValueContext,
): Promise<Diagnostic | null> {
  const bad = (message: string): Diagnostic =>
    diagnostic('no_candidate', message, {
      path: target.path,
      value: target.value,
      expected: `an existing ${type}`,
    });
  const query: Record<string, Json> = {};
  for (const constraint of target.constraints) {
    const operator = operatorOf(constraint);
    if (!operator) continue;
    const isSearched =
      constraintTable[operator.name]?.searches?.includes(type) ||
      (operator.name === 'valid_values' && searchedByValidValues.has(type));
    if (isSearched)
      query[operator.name === 'name_pattern' ? QUERY_NAMES[type]! : operator.name] = operator.argument;
  }
  const hasDeployment = context.hasDeployment === true || query.deployment_id !== undefined;
  if (IN_DEPLOYMENT_ONLY.has(type) && !hasDeployment)
    return bad(`${target.owner} lacks a 'deployment_id' constraint`);
  if (IN_BLUEPRINT.has(type) && !hasDeployment && !context.hasBlueprint)
    return bad(`${target.owner} lacks a 'deployment_id' constraint`);
  const getter = context.getValues;
  if (!getter) return bad(`${target.owner} is of the type ${type}, which cannot be looked up here`);
  const isOne = (candidates: readonly Json[]): boolean => candidates.some((c) => isSame(c, target.value));
  if (EXISTENCE_FIRST.has(type) && !isOne(await getter(type, target.value, {})))
    return bad(`there is no ${type} ${shownValue(target.value)}, as ${target.owner} wants`);
  const candidates = await getter(type, target.value, query);
  if (isOne(candidates)) return null;
  const names = candidates.filter((candidate) => typeof candidate === 'string');
  const nearest = typeof target.value === 'string' ? nearestName(target.value, names) : null;
  const hint = nearest === null ? '' : `; did you mean ${shownValue(nearest)}?`;
  return bad(`${shownValue(target.value)} is no ${type} that ${target.owner} may name${hint}`);
}

/** Returns the declared constraints of an input or parameter, as in the plan. */
export function constraintsOf(declaration: JsonObject): JsonObject[] {
  const { constraints } = declaration;
  return Array.isArray(constraints) ? constraints.filter(isJsonObject) : [];
}
