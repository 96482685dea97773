/** Reads imported files through the API. The manager resolves them, with the permissions of the user. */
import type { Client } from '@baton/client';
import {
  choosePluginYaml,
  type Fetched,
  type Need,
  pluginLabels,
  pluginMisfit,
  readNeed,
  selectPlugin,
} from '@baton/dsl';
import { openArchive } from '../api/blueprints';
import { problemOf } from '../api/problem';
import { t } from '../text/text';
import { readArchive } from './archive';
import { isYaml } from './project';

/** Limit of the manager for imported files. */
const MOST_CHARACTERS = 4 * 1024 * 1024;
const MOST_PLUGINS = 500;

export const obtainImport =
  (client: Client, tenant: string) =>
  async (key: string): Promise<Fetched> => {
    try {
      return await obtain(client, tenant, readNeed(key));
    } catch (error) {
      return { kind: 'unreadable', reason: problemOf(error).message };
    }
  };

async function obtain(client: Client, tenant: string, need: Need): Promise<Fetched> {
  switch (need.kind) {
    // The page sends requests only to its manager, and the manager fetches external URLs only for itself.
    case 'url':
      return { kind: 'unreadable', reason: t.editor.addressNotRead };
    case 'file':
      return null;
    case 'blueprint':
      return blueprintOf(client, tenant, need.id);
    case 'plugin':
      return pluginOf(client, tenant, need);
  }
}

async function blueprintOf(client: Client, tenant: string, id: string): Promise<Fetched> {
  const { main_file_name: mainFile } = await client.call('getBlueprint', {
    tenant,
    params: { blueprint_id: id },
    query: { _include: 'main_file_name' },
  });
  const entries = await readArchive(await openArchive(client, tenant, id));
  const texts = entries.flatMap(({ path, bytes }) =>
    isYaml(path) || path === mainFile ? [[path, new TextDecoder().decode(bytes)] as const] : [],
  );
  return {
    kind: 'blueprint',
    mainFile,
    files: { paths: entries.map(({ path }) => path), texts: Object.fromEntries(texts) },
  };
}

async function pluginOf(client: Client, tenant: string, need: Need & { kind: 'plugin' }): Promise<Fetched> {
  const fields = 'id,package_name,package_version,distribution,labels,blueprint_labels,resource_tags';
  const { items } = await client.call('listPlugins', {
    tenant,
    query: { package_name: need.name, _include: fields, _size: MOST_PLUGINS },
  });
  const installed = items.map((one) => ({
    ...one,
    name: one.package_name,
    version: one.package_version ?? '',
  }));
  const chosen = selectPlugin(need, installed);
  if (chosen === null)
    return installed.length > 0
      ? { kind: 'unreadable', reason: pluginMisfit(need, installed) }
      : {
          kind: 'unreadable',
          reason: t.editor.noPlugin(need.name),
          valid: await pluginNames(client, tenant),
        };
  const listing = await client.call('getPluginResource', {
    tenant,
    params: { plugin_id: chosen.id, rest: '' },
  });
  const file = choosePluginYaml(Object.keys(listing as object).filter(isYaml), need.dsl);
  if (file === null) return { kind: 'unreadable', reason: t.editor.noPluginYaml(need.name, need.dsl) };
  const { body } = await client.download('getPluginResource', {
    tenant,
    params: { plugin_id: chosen.id, rest: file },
  });
  const text = (await new Response(body).text()).slice(0, MOST_CHARACTERS);
  const { labels, blueprint_labels, resource_tags } = chosen as Record<string, unknown>;
  return {
    kind: 'plugin',
    text,
    labels: pluginLabels(labels),
    blueprintLabels: pluginLabels(blueprint_labels),
    resourceTags: (resource_tags ?? {}) as Record<string, string>,
  };
}

async function pluginNames(client: Client, tenant: string): Promise<string[]> {
  const { items } = await client.call('listPlugins', {
    tenant,
    query: { _include: 'package_name', _size: MOST_PLUGINS },
  });
  return [...new Set(items.map(({ package_name: name }) => name))];
}
