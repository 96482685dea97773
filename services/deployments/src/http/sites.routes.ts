import type { Principal } from '@baton/contracts';
import { sitesRoutes } from '@baton/contracts/http/sites';
import { type BoundRoute, bindRoutes, listEnvelope } from '@baton/http';
import { notFound } from '@baton/kernel';
import { selectPage } from '@baton/postgres';
import { sql } from 'kysely';
import { createSite, deleteSite, updateSite } from '../commands/sites';
import type { ServiceDeps } from '../deps';
import { formatLocation } from '../domain/site-location';
import { siteColumns, siteScope } from '../store/sites.sql';

interface SelectedSite extends Record<string, unknown> {
  latitude: number | null;
  longitude: number | null;
}

const present = (site: SelectedSite) => ({
  ...site,
  location: formatLocation(site.latitude, site.longitude),
});

/** Sites (spec v3.1 part 2 "Sites"). */
export function sitesHttp(deps: ServiceDeps): BoundRoute[] {
  const read = async (principal: Principal, name: string) => {
    const fields = Object.entries(siteColumns).map(([field, column]) => sql`${column} as ${sql.id(field)}`);
    const { rows } = await sql<SelectedSite>`
      select ${sql.join(fields)} from sites s where s.name = ${name} and ${siteScope(principal)}
      order by s.tenant = ${principal.tenant} desc limit 1`.execute(deps.db.query);
    if (!rows[0]) throw notFound('Site', name);
    return present(rows[0]);
  };
  return bindRoutes(sitesRoutes, {
    listSites: async ({ principal, list }) => {
      const page = await selectPage<SelectedSite>({
        db: deps.db.query,
        from: sql`sites s`,
        columns: siteColumns,
        list,
        where: [siteScope(principal, list.allTenants)],
        tieBreak: sql`s.created_at, s.key`,
        search: sql`s.name`,
        always: list.include?.includes('location') ? ['latitude', 'longitude'] : [],
      });
      const wantsLocation = list.include === null || list.include.includes('location');
      return listEnvelope({ ...page, items: wantsLocation ? page.items.map(present) : page.items }, list);
    },
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
