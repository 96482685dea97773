import { evaluateFunctions } from '@baton/dsl';
import type { JsonObject } from '@baton/kernel';
import type { AnyQuery } from '@baton/postgres';
import type { SecretsPort } from '../adapters/secrets.client';
import type { DeploymentRow } from '../store/deployments.sql';
import { functionError } from './function-error';
import { functionStorage, type OnBehalf } from './function-storage';

/**
 * Evaluates every function in a payload (reference/rest-api.md 5.22); `context` holds self, or source and target: ids of node
 * instances or nodes.
 * @throws AppError functions_evaluation_error; not_found_error for a missing secret.
 */
export async function evaluatePayload(
  deps: { db: AnyQuery; secrets: SecretsPort },
  row: DeploymentRow,
  on: OnBehalf,
  payload: JsonObject,
  context: Record<string, unknown>,
): Promise<JsonObject> {
  const id = (name: string): string | null =>
    typeof context[name] === 'string' ? (context[name] as string) : null;
  const result = await evaluateFunctions(payload, functionStorage(deps, row, on), {
    context: { self: id('self'), source: id('source'), target: id('target') },
  });
  if (!result.ok) throw functionError('functions_evaluation_error', result.error);
  return result.value as JsonObject;
}
