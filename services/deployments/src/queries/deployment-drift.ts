import type { Principal } from '@baton/contracts';
import { driftFindings } from '../domain/drift-findings';
import { readDrifted } from '../store/drift.sql';
import type { ListDeps } from './list-deployments';
import { visibleDeployment } from './visible-deployment';

/**
 * Returns one page of the node instances of a deployment whose configuration differs, with the findings of their last checks.
 * @throws AppError not_found_error, also for a deployment that the caller does not see.
 */
export async function deploymentDrift(
  { db }: Pick<ListDeps, 'db'>,
  principal: Principal,
  id: string,
  page: { size: number; offset: number },
) {
  const row = await visibleDeployment(db.query, principal, id);
  const { instances, total } = await readDrifted(db.query, row.key, page);
  return {
    deployment_id: row.id,
    total,
    instances: instances.map(({ checks, ...instance }) => ({ ...instance, findings: driftFindings(checks) })),
  };
}
