import type { Principal } from '@baton/contracts';
import { deploymentFiltersRoutes } from '@baton/contracts/http/deployment-filters';
import { type BoundRoute, bindRoutes, listEnvelope } from '@baton/http';
import { notFound } from '@baton/kernel';
import { selectPage } from '@baton/postgres';
import { sql } from 'kysely';
import { createFilter, deleteFilter, updateFilter } from '../commands/filters';
import type { ServiceDeps } from '../deps';
import { filterColumns, filterScope } from '../store/filters.sql';

/** Filters for deployments (spec v3.1 part 2 "Filters"). */
export function filtersHttp(deps: ServiceDeps): BoundRoute[] {
  const read = async (principal: Principal, id: string) => {
    const fields = Object.entries(filterColumns).map(([field, column]) => sql`${column} as ${sql.id(field)}`);
    const { rows } = await sql<Record<string, unknown>>`
      select ${sql.join(fields)} from deployment_filters f where f.id = ${id} and ${filterScope(principal)}
      order by f.tenant = ${principal.tenant} desc limit 1`.execute(deps.db.query);
    if (!rows[0]) throw notFound('DeploymentsFilter', id);
    return rows[0];
  };
  return bindRoutes(deploymentFiltersRoutes, {
    listDeploymentFilters: async ({ principal, list }) => {
      const page = await selectPage<Record<string, unknown>>({
        db: deps.db.query,
        from: sql`deployment_filters f`,
        columns: filterColumns,
        list,
        where: [filterScope(principal, list.allTenants)],
        tieBreak: sql`f.created_at, f.tenant, f.id`,
        search: sql`f.id`,
      });
      return listEnvelope(page, list);
    },
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
