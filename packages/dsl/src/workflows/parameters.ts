import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import { checkValue, constraintsOf, type ValueContext } from '../constraints/check-value';
import { type Diagnostic, diagnostic } from '../diagnostics/diagnostic';
import { setOwn } from '../yaml/node';

export interface ParameterOptions extends ValueContext {
  /** Whether parameters that the workflow does not declare are allowed. */
  allowCustomParameters?: boolean;
  /** Evaluates functions in values and defaults, in the context of the deployment. */
  evaluate?: (value: Json) => Promise<Json> | Json;
}

export type CheckedParameters =
  | { ok: true; value: JsonObject }
  /** One error with all problems, and each fault at the place of its parameter: `parameters.<name>`. */
  | { ok: false; error: Diagnostic; faults: Diagnostic[] };

type Parsed = { ok: true; value: Json } | { ok: false };

const failed: Parsed = { ok: false };
const made = (value: Json): Parsed => ({ ok: true, value });

function toInteger(value: Json): Parsed {
  if (typeof value === 'number') return Number.isFinite(value) ? made(Math.trunc(value)) : failed;
  if (typeof value === 'boolean') return made(Number(value));
  return typeof value === 'string' && value.length < 400 && /^\s*[-+]?\d+\s*$/.test(value)
    ? made(Number(value))
    : failed;
}

function toFloat(value: Json): Parsed {
  if (typeof value === 'number') return made(value);
  if (typeof value === 'boolean') return made(Number(value));
  const isNumber =
    typeof value === 'string' &&
    value.length < 400 &&
    /^\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*$/.test(value);
  return isNumber ? made(Number(value)) : failed;
}

function toBoolean(value: Json): Parsed {
  if (typeof value === 'boolean') return made(value);
  const word = typeof value === 'string' ? value.toLowerCase() : '';
  return word === 'true' || word === 'false' ? made(word === 'true') : failed;
}

/** Converts a value to its declared type (reference/workflows 1.2, step 3). */
function convert(value: Json, type: string | null, itemType: string | null): Parsed {
  switch (type) {
    case 'integer':
      return toInteger(value);
    case 'float':
      return toFloat(value);
    case 'boolean':
      return toBoolean(value);
    case 'string':
      return typeof value === 'string' ? made(value) : failed;
    case 'list': {
      if (!Array.isArray(value)) return failed;
      const items: Json[] = [];
      for (const item of value) {
        const converted = convert(item, itemType, null);
        if (!converted.ok) return failed;
        items.push(converted.value);
      }
      return made(items);
    }
    default:
      return made(value);
  }
}

interface Problems {
  undeclared: string[];
  mistyped: string[];
  violated: string[];
  missing: string[];
  faults: Diagnostic[];
}

/** Makes the fault of one parameter. */
const faultOf = (name: string, message: string): Diagnostic =>
  diagnostic('bad_parameters', message, { path: `parameters.${name}` });

const textOf = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null);

/**
 * Returns the parameters with which a workflow runs: given values before declared defaults, functions evaluated,
 * converted to their types and checked (reference/workflows 1.2). The error lists all problems.
 */
export async function checkWorkflowParameters(
  workflowId: string,
  declared: JsonObject,
  given: JsonObject,
  options: ParameterOptions = {},
): Promise<CheckedParameters> {
  const problems: Problems = { undeclared: [], mistyped: [], violated: [], missing: [], faults: [] };
  const result: JsonObject = {};
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(declared, name)) continue;
    if (options.allowCustomParameters) setOwn(result, name, given[name]!);
    else {
      problems.undeclared.push(name);
      problems.faults.push(faultOf(name, `The workflow declares no parameter "${name}"`));
    }
  }
  for (const name of Object.keys(declared)) {
    const schema = isJsonObject(declared[name]) ? declared[name] : {};
    const raw = Object.hasOwn(given, name)
      ? given[name]
      : Object.hasOwn(schema, 'default')
        ? schema.default
        : undefined;
    if (raw === undefined) {
      if (schema.required !== false) {
        problems.missing.push(name);
        problems.faults.push(faultOf(name, `Parameter "${name}" needs a value`));
      }
      continue;
    }
    await checkOne(name, schema, raw, Object.hasOwn(given, name), options, result, problems);
  }
  const error = describe(workflowId, problems, Object.keys(declared));
  return error ? { ok: false, error, faults: problems.faults } : { ok: true, value: result };
}

async function checkOne(
  name: string,
  schema: JsonObject,
  raw: Json,
  isGiven: boolean,
  options: ParameterOptions,
  result: JsonObject,
  problems: Problems,
): Promise<void> {
  const value = options.evaluate ? await options.evaluate(raw) : raw;
  const type = textOf(schema.type);
  const itemType = textOf(schema.item_type);
  // a null default means that there is none; the workflow's own code decides
  const converted: Parsed = value === null && !isGiven ? made(null) : convert(value, type, itemType);
  if (!converted.ok) {
    const message = `Parameter "${name}" must be of type ${type}${type === 'list' && itemType ? ` of ${itemType}` : ''}`;
    problems.mistyped.push(message);
    problems.faults.push(faultOf(name, message));
    return;
  }
  setOwn(result, name, converted.value);
  if (converted.value === null) return;
  const faults = await checkValue(
    {
      owner: `parameter "${name}"`,
      path: `parameters.${name}`,
      value: converted.value,
      type,
      itemType,
      constraints: constraintsOf(schema),
    },
    options,
  );
  for (const fault of faults)
    problems.violated.push(`Parameter "${name}" does not meet its constraints: ${fault.message}`);
  problems.faults.push(...faults);
}

function describe(workflowId: string, problems: Problems, valid: string[]): Diagnostic | null {
  const { undeclared, mistyped, violated, missing } = problems;
  const lines: string[] = [];
  if (undeclared.length > 0)
    lines.push(
      `Workflow "${workflowId}" does not have the following parameters declared: ${undeclared.join(', ')}. Remove these parameters or use the flag for allowing custom parameters`,
    );
  lines.push(...mistyped, ...violated);
  if (missing.length > 0)
    lines.push(
      `Workflow "${workflowId}" must be provided with the following parameters to execute: ${missing.join(', ')}`,
    );
  if (lines.length === 0) return null;
  return diagnostic('bad_parameters', lines.join('\n'), {
    path: 'parameters',
    ...(undeclared.length > 0 ? { name: undeclared[0]!, valid } : {}),
  });
}
