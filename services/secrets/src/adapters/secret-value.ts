/** Allowed values of a secret (reference/rest-api.md 5.23): a text, or any JSON that fits the secret's schema. */

import { AppError, badParameter, type Json, type JsonObject, Secret } from '@baton/kernel';
import { Ajv } from 'ajv';
import { RE2JS } from 're2js';

const MAX_VALUE_LENGTH = 1024 * 1024;
const MAX_SCHEMA_LENGTH = 64 * 1024;

/** Compiles patterns of users' schemas so that they run in linear time. */
function linearRegExp(pattern: string): RegExp {
  const compiled = RE2JS.compile(pattern);
  return { test: (text: string) => compiled.matcher(text).find() } as RegExp;
}
linearRegExp.code = 'linearRegExp';

type Check = (value: unknown) => string | null;

/** Returns a check for a JSON schema. @throws AppError bad_parameters_error for an invalid schema. */
function compileSchema(schema: JsonObject): Check {
  if (JSON.stringify(schema).length > MAX_SCHEMA_LENGTH)
    throw badParameter('schema', 'the schema is too large', {
      expected: `at most ${MAX_SCHEMA_LENGTH} characters`,
    });
  // A new validator each time: a shared one would keep every schema for ever.
  const ajv = new Ajv({
    strict: false,
    validateFormats: false,
    addUsedSchema: false,
    code: { regExp: linearRegExp },
  });
  try {
    const validate = ajv.compile(schema);
    return (value) =>
      validate(value) === true ? null : ajv.errorsText(validate.errors, { dataVar: 'value' });
  } catch (cause) {
    throw new AppError(
      'bad_parameters_error',
      `the schema is not a JSON schema: ${(cause as Error).message}`,
      { field: 'schema', expected: 'JSON schema' },
      { cause },
    );
  }
}

/** Returns JSON text with a blank after `:` and `,`, in the form of existing exports. */
export function jsonText(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(jsonText).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, inner]) => `${JSON.stringify(key)}: ${jsonText(inner)}`)
    .join(', ')}}`;
}

/**
 * Returns the text to store for a value given in a request.
 * @throws AppError bad_parameters_error; conflict_error when the value does not fit the schema.
 */
export function storedText(value: unknown, schema: JsonObject | null): Secret {
  if (schema === null) {
    if (typeof value !== 'string' || value === '') {
      throw badParameter('value', 'value must be a text that is not empty; other values need a schema', {
        expected: 'text',
      });
    }
    return bounded(value);
  }
  const check = compileSchema(schema);
  if (value === undefined)
    throw badParameter('value', 'value is missing', { expected: 'a value that fits the schema' });
  const fault = check(value);
  // The fault text names places and rules, never the value.
  if (fault !== null)
    throw new AppError('conflict_error', `The value does not fit the schema: ${fault}`, { field: 'value' });
  return bounded(jsonText(value as Json));
}

function bounded(text: string): Secret {
  if (text.length > MAX_VALUE_LENGTH)
    throw badParameter('value', 'the value is too long', {
      expected: `at most ${MAX_VALUE_LENGTH} characters`,
    });
  return new Secret(text);
}

/**
 * Returns the value as it was given. For a secret with a schema, a provider may have a text that is no JSON: the text is returned
 * then.
 */
export function shownValue(text: Secret, schema: JsonObject | null): Json {
  if (schema === null) return text.expose();
  try {
    return JSON.parse(text.expose()) as Json;
  } catch {
    return text.expose();
  }
}
