import type { Principal } from '@baton/contracts';
import { sitesRoutes } from '@baton/contracts/http/sites';
import { type BoundRoute, bindRoutes, listEnvelope } from '@baton/http';
import { createSite, deleteSite, updateSite } from '../commands/sites';
import type { ServiceDeps } from '../deps';
import { listSites, readSite } from '../queries/sites';

/** Sites (spec v3.1 part 2 "Sites"). */
export function sitesHttp(deps: ServiceDeps): BoundRoute[] {
  const read = (principal: Principal, name: string) => readSite(deps.db.query, principal, name);
  return bindRoutes(sitesRoutes, {
    listSites: async ({ principal, list }) =>
      listEnvelope(await listSites(deps.db.query, principal, list), list),
    getSite: ({ principal, params }) => read(principal, params.name!),
    createSite: async ({ principal, params, body }) => {
      await createSite(deps, principal, params.name!, body);
      return read(principal, params.name!);
    },
    updateSite: async ({ principal, params, body }) =>
      read(principal, await updateSite(deps, principal, params.name!, body)),
    deleteSite: async ({ principal, params }) => {
      await deleteSite(deps, principal, params.name!);
    },
  });
}
