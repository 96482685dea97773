import { AppError } from '@baton/kernel';
import { IMPORT_ORDER } from '../domain/owners';
import type { ImportRow } from '../store/imports.sql';
import type { ImportDeps } from './import-deps';

export interface ActivationRequest {
  /** Tenant here; absent: every tenant of the import. */
  tenant?: string;
  /** `tenant/id`, or an id of `tenant`. */
  deployments?: string[];
  withSchedules: boolean;
}

/**
 * Lets workflows start on imported deployments: this manager drives them from now on. Idempotent: what is active already is not
 * counted again. @throws AppError conflict_error before the import took effect; bad_parameters_error
 */
export async function activate(
  deps: Pick<ImportDeps, 'imports'>,
  row: ImportRow,
  tenants: readonly string[],
  request: ActivationRequest,
): Promise<{ deployments: number; schedules: number }> {
  if (row.state !== 'applied')
    throw new AppError('conflict_error', `Import ${row.id} is ${row.state}: it was not applied`, {
      state: row.state,
    });
  const total = { deployments: 0, schedules: 0 };
  for (const [tenant, deploymentIds] of chosen(tenants, request))
    for (const service of IMPORT_ORDER) {
      const found = await deps.imports[service].activate({
        tenant,
        deploymentIds,
        withSchedules: request.withSchedules,
      });
      total.deployments += Number(found.deployments);
      total.schedules += Number(found.schedules);
    }
  return total;
}

function chosen(
  tenants: readonly string[],
  { tenant, deployments }: ActivationRequest,
): Map<string, string[]> {
  if (!deployments) return new Map((tenant === undefined ? tenants : [tenant]).map((name) => [name, []]));
  const found = new Map<string, string[]>();
  for (const one of deployments) {
    const at = one.indexOf('/');
    const name = at < 0 ? tenant : one.slice(0, at);
    if (name === undefined || name === '')
      throw new AppError('bad_parameters_error', `Deployment ${one} has no tenant`, {
        field: 'deployments',
        expected: 'tenant/id, or tenant beside them',
      });
    found.set(name, [...(found.get(name) ?? []), one.slice(at + 1)]);
  }
  return found;
}
