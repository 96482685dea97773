import type { Principal } from '@baton/contracts';
import { deploymentFiltersRoutes } from '@baton/contracts/http/deployment-filters';
import { type BoundRoute, bindRoutes, listEnvelope } from '@baton/http';
import { createFilter, deleteFilter, updateFilter } from '../commands/filters';
import type { ServiceDeps } from '../deps';
import { listFilters, readFilter } from '../queries/filters';

/** Filters for deployments (spec v3.1 part 2 "Filters"). */
export function filtersHttp(deps: ServiceDeps): BoundRoute[] {
  const read = (principal: Principal, id: string) => readFilter(deps.db.query, principal, id);
  return bindRoutes(deploymentFiltersRoutes, {
    listDeploymentFilters: async ({ principal, list }) =>
      listEnvelope(await listFilters(deps.db.query, principal, list), list),
    getDeploymentFilter: ({ principal, params }) => read(principal, params.id!),
    createDeploymentFilter: async ({ principal, params, body }) => {
      await createFilter(deps, principal, params.id!, body);
      return read(principal, params.id!);
    },
    updateDeploymentFilter: async ({ principal, params, body }) => {
      await updateFilter(deps, principal, params.id!, body);
      return read(principal, params.id!);
    },
    deleteDeploymentFilter: async ({ principal, params }) => {
      await deleteFilter(deps, principal, params.id!);
    },
  });
}
