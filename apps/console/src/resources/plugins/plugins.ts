/** Reads and changes plugins. */
import type { Client, Schemas } from '@baton/client';
import { queryOptions } from '@tanstack/react-query';
import { listOf } from '../../api/lists';

export const PLUGINS = 'plugins';

const ROW_FIELDS = [
  'id',
  'package_name',
  'package_version',
  'title',
  'distribution',
  'supported_platform',
  'visibility',
  'installation_state',
  'uploaded_at',
  'created_by',
  'tenant_name',
] as const;
const DETAIL_FIELDS = [
  ...ROW_FIELDS,
  'archive_name',
  'signature',
  'distribution_release',
  'supported_py_versions',
  'wheels',
  'yaml_files_paths',
  'yaml_url_path',
  'labels',
  'blueprint_labels',
  'resource_tags',
] as const;

type Plugin = Schemas['Plugin'];
export type PluginRow = Pick<Plugin, (typeof ROW_FIELDS)[number]>;
export type PluginDetail = Pick<Plugin, (typeof DETAIL_FIELDS)[number]>;
export const pluginList = listOf<PluginRow>(PLUGINS, 'listPlugins', ROW_FIELDS);

export const pluginQuery = (client: Client, tenant: string, id: string) =>
  queryOptions({
    queryKey: [PLUGINS, tenant, 'one', id],
    queryFn: async ({ signal }): Promise<PluginDetail> =>
      (await client.call('getPlugin', {
        tenant,
        signal,
        params: { plugin_id: id },
        query: { _include: DETAIL_FIELDS.join(',') },
      })) as PluginDetail,
  });

/** A worker or agent on which a plugin is installed before its first use. */
export interface Installation {
  /** A worker, or an agent. */
  target: string;
  state: string;
  error: string | null;
}

/** Reads `{manager: 'm1', state, error}` of the API. */
export const installationsOf = (plugin: Pick<Plugin, 'installation_state'>): Installation[] =>
  plugin.installation_state.map(({ state, error, ...target }) => ({
    target: Object.values(target).map(String).join(' '),
    state: String(state),
    error: error === null || error === undefined || error === '' ? null : String(error),
  }));

export interface PluginUpload {
  file: Blob;
  title: string;
  visibility: PluginRow['visibility'];
}

export const uploadPlugin = (client: Client, tenant: string, { file, title, visibility }: PluginUpload) =>
  client.upload('uploadPlugin', {
    tenant,
    content: file,
    query: { visibility, ...(title && { title }), _include: 'id' },
  });

export const widenPlugin = (client: Client, tenant: string, id: string, visibility: 'tenant' | 'global') =>
  client.call('setPluginVisibility', {
    tenant,
    params: { plugin_id: id },
    query: { _include: 'id' },
    body: { visibility },
  });

/** Deletes a plugin; with `isForced` even if blueprints need it. */
export const deletePlugin = (client: Client, tenant: string, id: string, isForced: boolean) =>
  client.call('deletePlugin', { tenant, params: { plugin_id: id }, body: { force: isForced } });
