import { z } from 'zod';
import { defineRoutes } from '../route';
import { createdFields, envelope, ownedFields, resourceId, visibility } from './deployments-shapes';
import { columnsOf } from './list-columns';

/** Site (spec v3.1 part 2 "Site", reference/rest-api.md 8.4). */
const site = z
  .object({
    name: z.string(),
    location: z.string().nullable().describe('latitude, longitude'),
    latitude: z.number().nullable(),
    longitude: z.number().nullable(),
    ...ownedFields,
  })
  .meta({ id: 'Site' });
const siteFields = Object.keys(site.shape);

const filters = columnsOf(site, ['location']);
const params = z.object({ name: resourceId });
const own = {
  owner: 'deployments',
  tenant: 'required',
  versions: ['v3.1'],
  spec: 'v3.1-part2 Sites',
} as const;

export const sitesRoutes = defineRoutes([
  {
    id: 'listSites',
    method: 'GET',
    path: '/sites',
    ...own,
    permission: 'site_list',
    summary: 'Lists sites',
    list: {
      fields: siteFields,
      filters,
      sorts: filters,
      search: 'name',
      defaultSort: [{ field: 'created_at', descending: false }],
      allowsAllTenants: true,
      allowsGetAll: true,
    },
    status: 200,
    response: envelope(site),
  },
  {
    id: 'getSite',
    method: 'GET',
    path: '/sites/:name',
    ...own,
    permission: 'site_get',
    summary: 'Reads one site',
    params,
    includeFields: siteFields,
    status: 200,
    response: site,
  },
  {
    id: 'createSite',
    method: 'PUT',
    path: '/sites/:name',
    ...own,
    permission: 'site_create',
    summary: 'Creates a site',
    params,
    body: z.object({
      location: z.string().nullish(),
      visibility: visibility.optional(),
      private_resource: z.boolean().optional(),
      ...createdFields,
    }),
    includeFields: siteFields,
    status: 200,
    response: site,
  },
  {
    id: 'updateSite',
    method: 'POST',
    path: '/sites/:name',
    ...own,
    permission: 'site_update',
    summary: 'Renames, moves or widens a site',
    params,
    body: z.object({
      new_name: z.string().optional(),
      location: z.string().nullish(),
      visibility: visibility.optional(),
    }),
    includeFields: siteFields,
    status: 200,
    response: site,
  },
  {
    id: 'deleteSite',
    method: 'DELETE',
    path: '/sites/:name',
    ...own,
    permission: 'site_delete',
    summary: 'Deletes a site; its deployments stay',
    // The id is only looked up here.
    params: z.object({ name: z.string() }),
    status: 204,
  },
]);
