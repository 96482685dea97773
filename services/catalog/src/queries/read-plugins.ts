import { type ListPage, type ListQuery, listQuery, type Principal } from '@baton/contracts';
import { choosePluginYaml } from '@baton/dsl';
import { isUuid, notFound } from '@baton/kernel';
import { type Db, isPrivate, selectPage, visibilityScope } from '@baton/postgres';
import { type RawBuilder, sql } from 'kysely';
import { findPluginYamls } from '../store/plugins.sql';
import type { DB } from '../store/tables.gen';

export type PluginRow = Record<string, unknown>;

const plain = [
  'id',
  'title',
  'package_name',
  'package_version',
  'package_source',
  'archive_name',
  'supported_platform',
  'supported_py_versions',
  'distribution',
  'distribution_version',
  'distribution_release',
  'wheels',
  'excluded_wheels',
  'uploaded_at',
  'blueprint_labels',
  'labels',
  'resource_tags',
  'created_by',
  'visibility',
];

const columns: Record<string, RawBuilder<unknown>> = {
  ...Object.fromEntries(plain.map((name) => [name, sql`p.${sql.id(name)}`])),
  tenant_name: sql`p.tenant`,
  private_resource: isPrivate('p'),
  resource_availability: sql`p.visibility`,
  installation_state: sql`(
    select coalesce(json_agg(json_build_object(i.target_kind, i.target, 'state', i.state, 'error', i.error) order by i.target_kind, i.target), '[]'::json)
    from plugin_installations i where i.plugin_id = p.id)`,
  // A plugin without a yaml cannot be imported.
  yaml_url_path: sql`case when exists (select 1 from plugin_yamls y where y.plugin_id = p.id)
    then 'plugin:' || p.package_name || '?version=' || coalesce(p.package_version, '') || coalesce('&distribution=' || p.distribution, '')
    else '' end`,
  yaml_files_paths: sql`(
    select coalesce(json_agg('plugins/' || p.id || '/' || y.file_name order by y.file_name), '[]'::json) from plugin_yamls y where y.plugin_id = p.id)`,
  signature: sql`case when p.signer_fingerprint is not null then
    json_build_object('state', p.signer_state, 'key_name', p.signer_name, 'fingerprint', p.signer_fingerprint) end`,
  file_server_path: sql`'/resources/plugins/' || p.id`,
};

function page(db: Db<DB>['query'], principal: Principal, list: ListQuery): Promise<ListPage<PluginRow>> {
  const scope = visibilityScope(principal, 'p', list.allTenants);
  return selectPage<PluginRow>({
    db,
    from: sql`plugins p`,
    columns,
    list,
    where: [scope],
    tieBreak: sql`p.uploaded_at, p.id`,
    search: sql`p.package_name`,
  });
}

export function listPlugins(
  db: Db<DB>['query'],
  principal: Principal,
  list: ListQuery,
): Promise<ListPage<PluginRow>> {
  return page(db, principal, list);
}

/** Returns a plugin. @throws AppError not_found_error */
export async function getPlugin(
  db: Db<DB>['query'],
  principal: Principal,
  id: string,
  include: string[] | null = null,
): Promise<PluginRow> {
  const list = listQuery({ include, filters: { id: [id] }, size: 1 });
  const [row] = isUuid(id) ? (await page(db, principal, list)).items : [];
  if (row === undefined) throw notFound('Plugin', id);
  return row;
}

/** Returns the YAML file of a plugin for `dslVersion` of the language (null: any version); null when it has none. */
export async function pluginYaml(
  db: Db<DB>,
  pluginId: string,
  dslVersion: string | null,
): Promise<{ fileName: string; content: string } | null> {
  const yamls = await findPluginYamls(db.query, pluginId);
  const name = choosePluginYaml(
    yamls.map((one) => one.file_name),
    dslVersion,
  );
  const found = yamls.find((one) => one.file_name === name);
  return found === undefined ? null : { fileName: found.file_name, content: found.content };
}
