/** Checks values by the rules of the DSL. This large module is loaded only after a user has entered values. */
import { type Diagnostic, readYamlJson, resolveInputs } from '@baton/dsl';
import type { Json, JsonObject } from '@baton/kernel';
import { t } from '../text/text';
import type { Errors, Values } from './drafts';
import type { DataTypes, Schemas } from './field-spec';

/**
 * Returns the errors of these values by path. Values that are left out are not checked. Whether a named resource exists is not
 * checked either: only the manager knows.
 */
export async function checkValues(schemas: Schemas, dataTypes: DataTypes, values: Values): Promise<Errors> {
  const given = Object.keys(values).filter((name) => Object.hasOwn(schemas, name));
  const inputs = Object.fromEntries(given.map((name) => [name, schemas[name]]));
  const { diagnostics } = await resolveInputs(
    { inputs: inputs as JsonObject, data_types: dataTypes as unknown as JsonObject },
    values as JsonObject,
    { getValues: (_type, value) => [value], hasBlueprint: true, hasDeployment: true },
  );
  const errors: Record<string, string> = {};
  for (const found of diagnostics) {
    const path = found.path.replace(/^inputs\./, '');
    errors[path] ??= wordsFor(found, schemas[nameOf(path)]?.constraints ?? []);
  }
  return errors;
}

/** Returns the input that a path belongs to. */
const nameOf = (path: string): string => /^[^.[]+/.exec(path)?.[0] ?? path;

/** Returns the message of an error for users of a form: the required value. The blueprint author's own message is preferred. */
function wordsFor(found: Diagnostic, constraints: readonly Record<string, unknown>[]): string {
  const [, operator, text] = /^(\w+): (.*)$/s.exec(found.expected ?? '') ?? [];
  if (found.kind !== 'constraint_violated' || operator === undefined) return found.message;
  const argument = JSON.parse(text!) as Json;
  const own = constraints.find(
    (one) => Object.hasOwn(one, operator) && JSON.stringify(one[operator]) === text,
  )?.error_message;
  if (typeof own === 'string' && own !== '') return own;
  return constraintWords(operator, argument) ?? found.message;
}

function constraintWords(operator: string, argument: Json): string | null {
  const { errors } = t.forms;
  const number = Number(argument);
  switch (operator) {
    case 'in_range': {
      const [from, to] = argument as number[];
      return errors.in_range(String(from), String(to));
    }
    case 'equal':
    case 'greater_than':
    case 'greater_or_equal':
    case 'less_than':
    case 'less_or_equal':
      return errors[operator](String(argument));
    case 'min_length':
    case 'max_length':
    case 'length':
      return errors[operator](number);
    case 'valid_values':
      return errors.valid_values((argument as Json[]).map(String).join(', '));
    case 'pattern':
      return errors.pattern(String(argument));
    default:
      return null;
  }
}

export type ReadValues = { values: Values } | { error: string };

/** Parses YAML or JSON into values by name. An outer `{inputs: ...}` is removed. */
export function readValues(text: string, schemas: Schemas): ReadValues {
  if (text.trim() === '') return { values: {} };
  const read = readYamlJson(text);
  if (!read.ok) return { error: t.forms.unreadable(read.error.line, read.error.column, read.error.message) };
  const { value } = read;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { error: t.forms.noMapping };
  const inner = value.inputs;
  const isWrapped =
    Object.keys(value).length === 1 && inner !== undefined && !Object.hasOwn(schemas, 'inputs');
  if (isWrapped && typeof inner === 'object' && inner !== null && !Array.isArray(inner))
    return { values: inner };
  return { values: value };
}
