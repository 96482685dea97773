import { z } from 'zod';
import { defineRoutes } from '../route';
import { columnsOf } from './list-columns';
import { envelope, ownedFields } from './shapes';

/** Plugins update (spec v3.1 part 2 "Plugins update", reference/rest-api.md 5.18). */
const pluginsUpdate = z
  .object({
    id: z.string(),
    ...ownedFields,
    state: z.enum([
      'updating',
      'executing_workflow',
      'finalizing',
      'successful',
      'failed',
      'no_changes_required',
    ]),
    blueprint_id: z.string(),
    temp_blueprint_id: z.string().nullable(),
    execution_id: z.string().nullable(),
    deployments_to_update: z.array(z.string()),
    deployments_per_tenant: z.record(z.string(), z.array(z.string())).nullable(),
    forced: z.boolean(),
    all_tenants: z.boolean(),
  })
  .meta({ id: 'PluginsUpdate' });
const pluginsUpdateFields = Object.keys(pluginsUpdate.shape);

const names = z.array(z.string().min(1)).nullish();

/** The plugins to update and their versions (PluginSelection of contracts), and options of the update. */
const initiatePluginsUpdateBody = z.object({
  force: z.boolean().default(false),
  plugin_names: names,
  all_to_latest: z.boolean().nullish(),
  to_latest: names,
  all_to_minor: z.boolean().nullish(),
  to_minor: names,
  mapping: z.record(z.string(), z.string()).nullish(),
  auto_correct_types: z.boolean().default(false),
  reevaluate_active_statuses: z.boolean().default(false),
  all_tenants: z.boolean().default(false),
});

const filters = columnsOf(pluginsUpdate);
const path = '/plugins-updates';
const own = {
  owner: 'deployments',
  tenant: 'required',
  versions: ['v3.1'],
  spec: 'v3.1-part2 Plugins',
} as const;
const initiate = {
  path: `${path}/:blueprint_id/update/initiate`,
  ...own,
  permission: 'plugins_update_create',
  params: z.object({ blueprint_id: z.string() }),
  body: initiatePluginsUpdateBody,
  isBodyOptional: true,
  includeFields: pluginsUpdateFields,
  status: 200,
  response: pluginsUpdate,
} as const;

export const pluginsUpdatesRoutes = defineRoutes([
  {
    id: 'listPluginsUpdates',
    method: 'GET',
    path,
    ...own,
    permission: 'plugins_update_list',
    summary: 'Lists plugins updates',
    list: {
      fields: pluginsUpdateFields,
      filters,
      sorts: filters,
      search: 'id',
      defaultSort: [{ field: 'created_at', descending: false }],
      allowsAllTenants: true,
      allowsGetAll: true,
    },
    status: 200,
    response: envelope(pluginsUpdate),
  },
  {
    id: 'getPluginsUpdate',
    method: 'GET',
    path: `${path}/:plugins_update_id`,
    ...own,
    permission: 'plugins_update_get',
    summary: 'Reads one plugins update',
    params: z.object({ plugins_update_id: z.string() }),
    includeFields: pluginsUpdateFields,
    status: 200,
    response: pluginsUpdate,
  },
  {
    id: 'initiatePluginsUpdate',
    method: 'PUT',
    summary: "Brings a blueprint's plugins, and its deployments, to newer versions",
    ...initiate,
  },
  {
    id: 'initiatePluginsUpdateByPost',
    method: 'POST',
    summary: 'Starts a plugins update (clients from 6.4)',
    ...initiate,
  },
]);
