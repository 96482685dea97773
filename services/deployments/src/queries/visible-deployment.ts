import type { Principal } from '@baton/contracts';
import { notFound } from '@baton/kernel';
import type { AnyQuery } from '@baton/postgres';
import { type DeploymentRow, findDeployment } from '../store/deployments.sql';

/** The deployment that the caller may see, the own tenant's before a global one. @throws AppError not_found_error */
export async function visibleDeployment(
  db: AnyQuery,
  principal: Principal,
  id: string,
): Promise<DeploymentRow> {
  const row = await findDeployment(db, principal, id);
  if (!row) throw notFound('Deployment', id);
  return row;
}
