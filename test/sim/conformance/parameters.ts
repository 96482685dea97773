import { err, type Json, type JsonObject, ok, type Result } from '@baton/kernel';
import type { PlanWorkflow } from './deployment';

/** Merges a workflow's parameters as the server does (reference workflows.md 1.2), as far as the scenarios need it. */
export function mergeParameters(
  workflow: PlanWorkflow,
  given: JsonObject,
  allowCustom: boolean,
): Result<JsonObject, string> {
  const merged: JsonObject = { ...given };
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(workflow.parameters, name) && !allowCustom) return err(`undeclared parameter ${name}`);
  }
  for (const [name, { default: otherwise, type, required }] of Object.entries(workflow.parameters)) {
    if (merged[name] === undefined && otherwise !== undefined) merged[name] = otherwise;
    if (merged[name] === undefined && required !== false) return err(`parameter ${name} is missing`);
    if (type === 'boolean' && merged[name] !== undefined) {
      const value = booleanOf(merged[name]);
      if (value === null) return err(`Parameter "${name}" must be of type boolean`);
      merged[name] = value;
    }
  }
  return ok(merged);
}

function booleanOf(value: Json): boolean | null {
  if (typeof value === 'boolean') return value;
  const text = String(value).toLowerCase();
  return text === 'true' ? true : text === 'false' ? false : null;
}
