import type { Principal } from '@baton/contracts';
import { requireOwnTenant } from '@baton/contracts';
import { deploymentModificationsRoutes } from '@baton/contracts/http/deployment-modifications';
import { type BoundRoute, bindRoutes, listEnvelope } from '@baton/http';
import { notFound } from '@baton/kernel';
import { finishModification, rollbackModification, startModification } from '../commands/modifications';
import type { ServiceDeps } from '../deps';
import type { ModifiedNodes } from '../domain/modification';
import { listModifications, readModification } from '../queries/modifications';
import { findDeployment } from '../store/deployments.sql';

/** Deployment modifications (reference/rest-api.md 5.5). */
export function modificationsHttp(deps: ServiceDeps): BoundRoute[] {
  const read = async (principal: Principal, id: string) => {
    const found = await readModification(deps.db.query, principal, id);
    if (!found) throw notFound('DeploymentModification', id);
    return found;
  };
  const end = async (principal: Principal, id: string, act: typeof finishModification) => {
    const found = await read(principal, id);
    requireOwnTenant(principal, String(found.tenant_name), `Deployment \`${String(found.deployment_id)}\``);
    await act(deps, id);
    return read(principal, id);
  };
  return bindRoutes(deploymentModificationsRoutes, {
    listDeploymentModifications: async ({ principal, list }) =>
      listEnvelope(await listModifications(deps.db.query, principal, list), list),
    getDeploymentModification: ({ principal, params }) => read(principal, params.id!),
    startDeploymentModification: async ({ principal, body }) => {
      const row = await findDeployment(deps.db.query, principal, body.deployment_id);
      if (!row) throw notFound('Deployment', body.deployment_id);
      requireOwnTenant(principal, row.tenant, `Deployment \`${row.id}\``);
      const id = await startModification(deps, {
        deploymentKey: row.key,
        context: body.context ?? {},
        modified: (body.nodes ?? {}) as ModifiedNodes,
        createdBy: principal.username,
      });
      return read(principal, id);
    },
    finishDeploymentModification: ({ principal, params }) => end(principal, params.id!, finishModification),
    rollbackDeploymentModification: ({ principal, params }) =>
      end(principal, params.id!, rollbackModification),
  });
}
