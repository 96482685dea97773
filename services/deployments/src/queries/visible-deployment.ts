import type { Principal } from '@baton/contracts';
import { notFound } from '@baton/kernel';
import type { AnyQuery } from '@baton/postgres';
import { type DeploymentRow, findDeployment } from '../store/deployments.sql';

/**
 * Returns the deployment if the caller may see it; a deployment of the own tenant comes before a global one.
 * @throws AppError not_found_error
 */
export async function visibleDeployment(
  db: AnyQuery,
  principal: Principal,
  id: string,
): Promise<DeploymentRow> {
  const row = await findDeployment(db, principal, id);
  if (!row) throw notFound('Deployment', id);
  return row;
}
