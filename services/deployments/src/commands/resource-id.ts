import { deploymentId, resourceId } from '@baton/contracts/http/shapes';
import { badParameter } from '@baton/kernel';

/** Checks a name. @throws AppError bad_parameters_error when `value` breaks the rules of names (reference/rest-api.md 4.1). */
export function requireResourceId(what: string, value: string, field = 'id'): void {
  check(what, value, resourceId, field);
}

/** Checks a deployment id, which may start with any allowed character. @throws AppError bad_parameters_error */
export function requireDeploymentId(value: string): void {
  check('deployment id', value, deploymentId, 'id');
}

function check(what: string, value: string, schema: typeof resourceId, field: string): void {
  const result = schema.safeParse(value);
  if (result.success) return;
  const expected = result.error.issues[0]?.message ?? 'a name';
  throw badParameter(field, `The ${what} \`${value.slice(0, 300)}\` is not valid: ${expected}`, { expected });
}
