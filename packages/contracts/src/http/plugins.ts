import { z } from 'zod';
import { defineRoutes, type ListContract } from '../route';
import { legacyFields } from './legacy-fields';
import { columnsOf } from './list-columns';
import {
  bodyFlag,
  createdFields,
  envelope,
  instant,
  jsonObject,
  ownedFields,
  queryBoolean,
  visibility,
  widerVisibility,
} from './shapes';

const { created_at: _notShown, ...ownedByPlugin } = ownedFields;
const textOrNull = z.string().nullable();
const textsOrNull = z.array(z.string()).nullable();

/** spec v3.1 part 2, Plugin; further fields of reference 5.18. */
const plugin = z
  .object({
    ...ownedByPlugin,
    id: z.string(),
    title: textOrNull,
    package_name: z.string(),
    package_version: textOrNull,
    package_source: textOrNull,
    archive_name: z.string(),
    supported_platform: textOrNull,
    supported_py_versions: textsOrNull,
    distribution: textOrNull,
    distribution_version: textOrNull,
    distribution_release: textOrNull,
    wheels: textsOrNull,
    excluded_wheels: textsOrNull,
    uploaded_at: instant,
    blueprint_labels: jsonObject.nullable(),
    labels: jsonObject.nullable(),
    resource_tags: jsonObject.nullable(),
    installation_state: z.array(jsonObject),
    yaml_url_path: z.string(),
    yaml_files_paths: z.array(z.string()),
    file_server_path: z.string(),
    signature: z
      .object({
        state: z
          .enum(['trusted', 'unknown', 'revoked'])
          .describe('What the tenant of the plugin thinks of the key'),
        key_name: textOrNull.describe('Name of the key there'),
        fingerprint: z.string(),
      })
      .nullable()
      .describe('Who has signed the package; null: nobody'),
  })
  .meta({ id: 'Plugin' });

/** The fields of a plugin in v2.1 (spec v2.1); `uploaded_at` has the time format of v2.1. */
const pluginV21 = plugin
  .pick({
    id: true,
    package_name: true,
    archive_name: true,
    package_source: true,
    package_version: true,
    supported_platform: true,
    distribution: true,
    distribution_version: true,
    distribution_release: true,
    wheels: true,
    excluded_wheels: true,
    supported_py_versions: true,
    uploaded_at: true,
  })
  .meta({ id: 'PluginV21' });
const pluginOfAnyVersion = z.union([plugin, pluginV21]);
const pluginsOfAnyVersion = envelope(pluginOfAnyVersion);
const pluginFields = Object.keys(plugin.shape);

/** Without the paths of its files, which are computed. */
const plainColumns = columnsOf(plugin, ['yaml_url_path', 'file_server_path']);
const pluginList: ListContract = {
  fields: pluginFields,
  filters: plainColumns,
  sorts: plainColumns,
  search: 'package_name',
  defaultSort: [{ field: 'uploaded_at', descending: false }],
  allowsAllTenants: true,
  allowsGetAll: true,
};

const pluginUploadArguments = z.object({
  plugin_archive_url: z.string().max(4096).optional(),
  plugin_path: z.string().max(4096).optional(),
  title: z.string().max(256).optional(),
  visibility: visibility.optional(),
  private_resource: queryBoolean.optional(),
  id: z.uuid().optional(),
  development: queryBoolean
    .optional()
    .describe('A build of a plugin under development: replaces the last one of the same version'),
  uploaded_at: createdFields.created_at,
  created_by: createdFields.created_by,
});
/** The same as a JSON body, without an archive. */
const pluginUploadBody = pluginUploadArguments.extend({
  private_resource: z.boolean().optional(),
  development: z.boolean().optional(),
});

const owned = { owner: 'catalog', tenant: 'required' } as const;
const path = '/plugins/:plugin_id';

export const pluginRoutes = defineRoutes([
  {
    ...owned,
    id: 'listPlugins',
    method: 'GET',
    path: '/plugins',
    permission: 'plugin_list',
    versions: ['v3.1', 'v2.1'],
    summary: 'Plugins',
    spec: 'v3.1-part2 Plugins',
    list: pluginList,
    legacyFields: legacyFields.plugin,
    status: 200,
    response: pluginsOfAnyVersion,
  },
  {
    ...owned,
    id: 'getPlugin',
    method: 'GET',
    path,
    permission: 'plugin_get',
    versions: ['v3.1', 'v2.1'],
    summary: 'One plugin',
    spec: 'v3.1-part2 Plugins',
    status: 200,
    response: pluginOfAnyVersion,
    includeFields: pluginFields,
    legacyFields: legacyFields.plugin,
  },
  {
    ...owned,
    id: 'uploadPlugin',
    method: 'POST',
    path: '/plugins',
    permission: 'plugin_upload',
    versions: ['v3.1', 'v2.1'],
    summary: 'Uploads a wagon, or a zip of a wagon and its plugin yaml files',
    spec: 'v3.1-part2 Plugins',
    query: pluginUploadArguments,
    body: pluginUploadBody,
    isBodyOptional: true,
    rawBody: 'archive',
    status: 201,
    response: pluginOfAnyVersion,
    includeFields: pluginFields,
    legacyFields: legacyFields.plugin,
  },
  {
    ...owned,
    id: 'uploadPluginById',
    method: 'POST',
    path,
    permission: 'plugin_upload',
    versions: ['v2.1'],
    summary: 'Uploads a plugin under this id',
    spec: 'v2.1 Endpoints',
    params: z.object({ plugin_id: z.uuid() }),
    query: pluginUploadArguments.omit({ id: true }),
    body: pluginUploadBody.omit({ id: true }),
    isBodyOptional: true,
    rawBody: 'archive',
    status: 201,
    response: pluginOfAnyVersion,
    includeFields: pluginFields,
    legacyFields: legacyFields.plugin,
  },
  {
    ...owned,
    id: 'uploadPluginByPut',
    method: 'PUT',
    path,
    permission: 'plugin_upload',
    versions: ['v2.1'],
    summary: 'As POST: the sample of the document puts',
    spec: 'v2.1 Endpoints',
    params: z.object({ plugin_id: z.uuid() }),
    query: pluginUploadArguments.omit({ id: true }),
    body: pluginUploadBody.omit({ id: true }),
    isBodyOptional: true,
    rawBody: 'archive',
    status: 201,
    response: pluginOfAnyVersion,
    includeFields: pluginFields,
    legacyFields: legacyFields.plugin,
  },
  {
    ...owned,
    id: 'actOnPlugin',
    method: 'POST',
    path,
    permission: 'plugin_upload',
    versions: ['v3.1'],
    summary: 'Marks the plugin to be installed ahead of its first use',
    spec: 'reference 5.18',
    body: z.object({
      action: z.string(),
      managers: z.array(z.string()).optional(),
      agents: z.array(z.string()).optional(),
    }),
    status: 200,
    response: plugin,
    includeFields: pluginFields,
  },
  {
    ...owned,
    id: 'patchPlugin',
    method: 'PATCH',
    path,
    permission: 'plugin_upload',
    versions: ['v3.1'],
    summary: 'Changes labels, blueprint_labels or resource_tags that the plugin gives, or its creator',
    spec: 'reference 5.18',
    body: z.record(z.string(), z.unknown()),
    status: 200,
    response: plugin,
    includeFields: pluginFields,
  },
  {
    ...owned,
    id: 'deletePlugin',
    method: 'DELETE',
    path,
    permission: 'plugin_delete',
    versions: ['v3.1', 'v2.1'],
    summary: 'Deletes a plugin that no blueprint uses',
    spec: 'v3.1-part2 Plugins',
    isBodyOptional: true,
    query: z.object({ force: queryBoolean.default(false) }),
    body: z.object({ force: bodyFlag.default(false) }),
    status: 204,
  },
  {
    ...owned,
    id: 'downloadPlugin',
    method: 'GET',
    path: `${path}/archive`,
    permission: 'plugin_download',
    versions: ['v3.1', 'v2.1'],
    summary: 'The wagon; with full_archive=true the zip with the yaml files',
    spec: 'v3.1-part2 Plugins',
    query: z.object({ full_archive: queryBoolean.default(false) }),
    status: 200,
    responseKind: 'stream',
  },
  {
    ...owned,
    id: 'getPluginYaml',
    method: 'GET',
    path: `${path}/yaml`,
    permission: 'plugin_download',
    versions: ['v3.1'],
    summary: 'The plugin yaml for a DSL version',
    spec: 'reference 5.18',
    query: z.object({ dsl_version: z.string().max(64).optional() }),
    status: 200,
    responseKind: 'text',
  },
  {
    ...owned,
    id: 'setPluginVisibility',
    method: 'PATCH',
    path: `${path}/set-visibility`,
    permission: 'resource_set_visibility',
    versions: ['v3.1'],
    summary: 'Widens who sees the plugin',
    spec: 'v3.1-part2 Plugins',
    body: z.object({ visibility: widerVisibility }),
    status: 200,
    response: plugin,
    includeFields: pluginFields,
  },
  {
    ...owned,
    id: 'setPluginGlobal',
    method: 'PATCH',
    path: `${path}/set-global`,
    isGoneFromOriginal: true,
    permission: 'resource_set_global',
    versions: ['v3.1'],
    summary: 'Makes the plugin global (deprecated)',
    spec: 'v3.1-part2 Plugins',
    status: 200,
    response: plugin,
    includeFields: pluginFields,
  },
]);
