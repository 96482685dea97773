import { isJsonObject, type Json } from '@baton/kernel';
import { checkPattern } from './pattern';

/** Argument and applicability of a constraint operator (reference 3.3). */
export interface ConstraintEntry {
  argument:
    | 'number'
    | 'list of two numbers'
    | 'list'
    | 'regular expression'
    | 'string'
    | 'list of strings'
    | 'name pattern';
  /** Object types whose search the constraint narrows; null for conditions on the value itself. */
  searches: readonly string[] | null;
  doc: string;
}

const IN_DEPLOYMENT = [
  'capability_value',
  'scaling_group',
  'node_id',
  'node_type',
  'node_instance',
  'operation_name',
] as const;
const TOP_LEVEL = ['blueprint_id', 'deployment_id'] as const;
const OBJECTS = [...TOP_LEVEL, 'secret_key', ...IN_DEPLOYMENT] as const;

export const constraintTable: Readonly<Record<string, ConstraintEntry>> = {
  equal: { argument: 'number', searches: null, doc: 'The value equals the argument.' },
  greater_than: { argument: 'number', searches: null, doc: 'The value is above the argument.' },
  greater_or_equal: { argument: 'number', searches: null, doc: 'The value is not below the argument.' },
  less_than: { argument: 'number', searches: null, doc: 'The value is below the argument.' },
  less_or_equal: { argument: 'number', searches: null, doc: 'The value is not above the argument.' },
  in_range: {
    argument: 'list of two numbers',
    searches: null,
    doc: 'The value lies between the two, both included.',
  },
  valid_values: { argument: 'list', searches: null, doc: 'The value is one of the list.' },
  length: { argument: 'number', searches: null, doc: 'The value is as long as that.' },
  min_length: { argument: 'number', searches: null, doc: 'The value is at least that long.' },
  max_length: { argument: 'number', searches: null, doc: 'The value is at most that long.' },
  pattern: { argument: 'regular expression', searches: null, doc: 'The text begins with a match.' },
  filter_id: { argument: 'string', searches: TOP_LEVEL, doc: 'The filter that the object must pass.' },
  labels: { argument: 'list', searches: TOP_LEVEL, doc: 'Labels that the object must have.' },
  tenants: {
    argument: 'list of strings',
    searches: TOP_LEVEL,
    doc: 'Tenants that the object may belong to.',
  },
  name_pattern: {
    argument: 'name pattern',
    searches: OBJECTS,
    doc: 'starts_with, ends_with, contains or equals_to.',
  },
  deployment_id: {
    argument: 'string',
    searches: IN_DEPLOYMENT,
    doc: 'The deployment that the object belongs to.',
  },
};

/** Object types whose search includes valid_values. */
export const searchedByValidValues: ReadonlySet<string> = new Set(IN_DEPLOYMENT);

const NAME_PATTERN_KEYS = new Set(['starts_with', 'ends_with', 'contains', 'equals_to']);

/** Whether an argument has the form that its operator requires. */
export function isArgumentFit(entry: ConstraintEntry, argument: Json): boolean {
  switch (entry.argument) {
    case 'number':
      return typeof argument === 'number';
    case 'list of two numbers':
      return Array.isArray(argument) && argument.length === 2 && argument.every((n) => typeof n === 'number');
    case 'list':
      return Array.isArray(argument);
    case 'regular expression':
      return typeof argument === 'string' && checkPattern(argument) === null;
    case 'string':
      return typeof argument === 'string';
    case 'list of strings':
      return Array.isArray(argument) && argument.every((t) => typeof t === 'string');
    case 'name pattern':
      return isJsonObject(argument) && Object.keys(argument).every((key) => NAME_PATTERN_KEYS.has(key));
  }
}
