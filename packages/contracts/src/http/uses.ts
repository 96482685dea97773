import { z } from 'zod';
import { defineRoutes } from '../route';
import { columnsOf } from './list-columns';
import { envelope, instant, resourceId, visibility } from './shapes';

/** A user of a resource: a blueprint whose plan names it. Deployments are found by their blueprint. */
const use = z
  .object({
    kind: z.literal('blueprint'),
    id: z.string(),
    created_at: instant,
    created_by: z.string(),
    tenant_name: z.string(),
    visibility,
  })
  .meta({ id: 'ResourceUse' });
export type ResourceUseAnswer = z.infer<typeof use>;

const fields = Object.keys(use.shape) as (keyof ResourceUseAnswer)[];
const columns = columnsOf(use, ['kind']);

const shared = {
  method: 'GET',
  owner: 'catalog',
  permission: 'blueprint_list',
  tenant: 'required',
  versions: ['v3.1'],
  spec: 'Baton',
  list: {
    fields,
    filters: columns,
    sorts: columns,
    search: 'id',
    defaultSort: [{ field: 'created_at', descending: false }],
    allowsAllTenants: false,
    allowsGetAll: true,
  },
  status: 200,
  response: envelope(use),
} as const;

export const usesRoutes = defineRoutes([
  {
    ...shared,
    id: 'listSecretUses',
    path: '/secrets/:secret_key/uses',
    params: z.object({ secret_key: resourceId }),
    summary: 'Blueprints that the caller sees and whose plan names the secret, whether there is one or not',
  },
  {
    ...shared,
    id: 'listBlueprintUses',
    path: '/blueprints/:blueprint_id/uses',
    params: z.object({ blueprint_id: resourceId }),
    summary: 'Blueprints that import the blueprint',
  },
  {
    ...shared,
    id: 'listPluginUses',
    path: '/plugins/:plugin_id/uses',
    // The id is only looked up here.
    params: z.object({ plugin_id: z.string() }),
    summary: 'Blueprints whose plan needs the plugin in its version',
  },
]);
