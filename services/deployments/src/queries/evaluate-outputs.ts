import { isAdministrator, type Principal } from '@baton/contracts';
import { evaluateOutputs as evaluateDefinitions } from '@baton/dsl';
import { AppError, type ErrorCode, isAppError, type JsonObject, notFound } from '@baton/kernel';
import type { ServiceDeps } from '../deps';
import { type DeploymentRow, findDeployment, readPlan } from '../store/deployments.sql';
import { functionError } from './function-error';
import { functionStorage, type OnBehalf } from './function-storage';

type Deps = Pick<ServiceDeps, 'db' | 'secrets'>;

export function behalfOf(principal: Principal): OnBehalf {
  return { username: principal.username, isAdministrator: isAdministrator(principal) };
}

/** GET /deployments/{id}/outputs. @throws AppError deployment_outputs_evaluation_error, not_found_error. */
export function evaluateOutputs(deps: Deps, principal: Principal, id: string): Promise<JsonObject> {
  return evaluateSection(deps, principal, id, 'outputs', 'deployment_outputs_evaluation_error');
}

/** GET /deployments/{id}/capabilities. @throws AppError deployment_capabilities_evaluation_error, not_found_error. */
export function evaluateCapabilities(deps: Deps, principal: Principal, id: string): Promise<JsonObject> {
  return evaluateSection(deps, principal, id, 'capabilities', 'deployment_capabilities_evaluation_error');
}

async function evaluateSection(
  deps: Deps,
  principal: Principal,
  id: string,
  section: 'outputs' | 'capabilities',
  code: ErrorCode,
): Promise<JsonObject> {
  const row = await findDeployment(deps.db.query, principal, id);
  if (!row) throw notFound('Deployment', id);
  return evaluateOf(deps, row, behalfOf(principal), section, code);
}

/** Evaluates the outputs or capabilities of a deployment that was already found. */
export async function evaluateOf(
  deps: Deps,
  row: DeploymentRow,
  on: OnBehalf,
  section: 'outputs' | 'capabilities',
  code: ErrorCode,
): Promise<JsonObject> {
  const plan = await readPlan(deps.db.query, row.key);
  const storage = functionStorage({ db: deps.db.query, secrets: deps.secrets }, row, on);
  try {
    const result = await evaluateDefinitions((plan?.[section] ?? {}) as JsonObject, storage, section);
    if (!result.ok) throw functionError(code, result.error);
    return result.value;
  } catch (error) {
    if (isAppError(error, 'functions_evaluation_error'))
      throw new AppError(code, error.message, error.details, { cause: error });
    throw error;
  }
}
