import type { Principal } from '@baton/contracts';
import { interDeploymentDependenciesRoutes } from '@baton/contracts/http/inter-deployment-dependencies';
import { answer, type BoundRoute, bindRoutes, listEnvelope } from '@baton/http';
import type { AnyQuery, AnyTx } from '@baton/postgres';
import {
  createDependencies,
  createDependency,
  type DependencyBody,
  deleteDependency,
} from '../commands/dependencies';
import type { ServiceDeps } from '../deps';
import { listDependencies, readDependency } from '../queries/dependencies';
import type { WirePolicy } from './wire-policy';

type BulkMember = Omit<DependencyBody, 'source_deployment'> & { target_deployment_id?: string | null };

/** Creates several dependencies of one deployment; `replacing`: replaces all that it has. */
async function bulk(
  deps: ServiceDeps,
  principal: Principal,
  source: string,
  members: readonly BulkMember[],
  replacing?: string,
) {
  const bodies = members.map((member) => ({
    ...member,
    source_deployment: source,
    target_deployment: member.target_deployment ?? member.target_deployment_id,
  }));
  const ids = await createDependencies(deps, principal, bodies, replacing);
  return {
    items: ids.map((id) => ({ id })),
    metadata: { pagination: { total: ids.length, offset: 0, size: ids.length } },
  };
}

/** Inter-deployment dependencies (spec v3.1 part 1, reference/rest-api.md 5.4). */
export function dependenciesHttp(deps: ServiceDeps, wire: WirePolicy): BoundRoute[] {
  const read = (id: string, db: AnyQuery | AnyTx = deps.db.query) => readDependency(db, id);
  return bindRoutes(interDeploymentDependenciesRoutes, {
    listInterDeploymentDependencies: async ({ principal, list }) =>
      listEnvelope(await listDependencies(deps.db.query, principal, list), list),
    createInterDeploymentDependency: async ({ principal, body }) =>
      read(await createDependency(deps, principal, body)),
    deleteInterDeploymentDependency: async ({ principal, body }) => {
      let removed: Record<string, unknown> | undefined;
      await deleteDependency(deps, principal, body, {
        mayBeAny: wire.deletesAnyDependency,
        beforeDelete: async (tx, id) => {
          removed = await read(id, tx);
        },
      });
      return wire.showsDeletedDependency ? removed : answer({ status: 204 });
    },
    createInterDeploymentDependencies: ({ principal, body }) =>
      bulk(deps, principal, body.source_deployment_id, body.inter_deployment_dependencies),
    replaceInterDeploymentDependencies: ({ principal, params, body }) =>
      bulk(deps, principal, params.id!, body.inter_deployment_dependencies, params.id!),
  });
}
