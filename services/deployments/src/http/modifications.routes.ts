import type { Principal } from '@baton/contracts';
import { requireOwnTenant } from '@baton/contracts';
import { deploymentModificationsRoutes } from '@baton/contracts/http/deployment-modifications';
import { type BoundRoute, bindRoutes, type HttpCall, listEnvelope } from '@baton/http';
import { notFound } from '@baton/kernel';
import { finishModification, rollbackModification, startModification } from '../commands/modifications';
import type { ServiceDeps } from '../deps';
import type { ModifiedNodes } from '../domain/modification';
import { listModifications, readModification } from '../queries/modifications';
import { visibleDeployment } from '../queries/visible-deployment';
import type { WirePolicy } from './wire-policy';

type Caller = Pick<HttpCall, 'principal' | 'version'>;

/** Deployment modifications (reference/rest-api.md 5.5). */
export function modificationsHttp(deps: ServiceDeps, wire: WirePolicy): BoundRoute[] {
  const read = async (principal: Principal, id: string) => {
    const found = await readModification(deps.db.query, principal, id);
    if (!found) throw notFound('DeploymentModification', id);
    return found;
  };
  const show = async (call: Caller, id: string) =>
    wire.presentModification(call.version, await read(call.principal, id));
  const end = async (call: Caller, id: string, act: typeof finishModification) => {
    const { principal } = call;
    const found = await read(principal, id);
    requireOwnTenant(principal, String(found.tenant_name), `Deployment \`${String(found.deployment_id)}\``);
    await act(deps, id);
    return show(call, id);
  };
  return bindRoutes(deploymentModificationsRoutes, {
    listDeploymentModifications: async (call) => {
      const page = await listModifications(deps.db.query, call.principal, call.list);
      const items = page.items.map((item) => wire.presentModification(call.version, item));
      return listEnvelope({ ...page, items }, call.list);
    },
    getDeploymentModification: (call) => show(call, call.params.id!),
    startDeploymentModification: async (call) => {
      const { principal, body } = call;
      const row = await visibleDeployment(deps.db.query, principal, body.deployment_id);
      requireOwnTenant(principal, row.tenant, `Deployment \`${row.id}\``);
      const id = await startModification(deps, {
        deploymentKey: row.key,
        context: body.context ?? {},
        modified: (body.nodes ?? {}) as ModifiedNodes,
        createdBy: principal.username,
      });
      return show(call, id);
    },
    finishDeploymentModification: (call) => end(call, call.params.id!, finishModification),
    rollbackDeploymentModification: (call) => end(call, call.params.id!, rollbackModification),
  });
}
