/** Reads and changes sites. */
import type { Client, Operations, Schemas } from '@baton/client';
import { queryOptions } from '@tanstack/react-query';
import { listOf } from '../../api/lists';

export const SITES = 'sites';

const FIELDS = [
  'name',
  'latitude',
  'longitude',
  'visibility',
  'created_at',
  'created_by',
  'tenant_name',
] as const;
export type SiteRow = Pick<Schemas['Site'], (typeof FIELDS)[number]>;
export const siteList = listOf<SiteRow>(SITES, 'listSites', FIELDS);

/** Maximum of sites with a count of deployments. */
const COUNTED = 1000;

/** Number of deployments at each site, by site name. */
export const siteCountsQuery = (client: Client, tenant: string) =>
  queryOptions({
    queryKey: ['deployments', tenant, 'by site'],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, number>> => {
      const { items } = await client.call('summarizeDeployments', {
        tenant,
        signal,
        query: { _target_field: 'site_name', _size: COUNTED },
      });
      return new Map(items.map((item) => [String(item.site_name), Number(item.deployments)]));
    },
  });

export type NewSite = Operations['createSite']['body'] & { name: string };

export const createSite = (client: Client, tenant: string, { name, ...body }: NewSite) =>
  client.call('createSite', { tenant, params: { name }, body });

export const changeSite = (
  client: Client,
  tenant: string,
  name: string,
  body: Operations['updateSite']['body'],
) => client.call('updateSite', { tenant, params: { name }, body });

export const deleteSite = (client: Client, tenant: string, name: string) =>
  client.call('deleteSite', { tenant, params: { name } });
