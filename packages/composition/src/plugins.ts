import { isJsonObject, type Json } from '@baton/kernel';
import { FatalError } from '@baton/plugin-sdk';
import { parse } from 'yaml';
import { z } from 'zod';
import { isUrl } from './blueprint-archive';
import { isMissing, isRefusal } from './failures';
import type { Scope } from './scope';
import { objectSetting, parsed } from './settings';
import { save } from './state';
import { zipOf } from './zip';

const pluginSetting = z.looseObject({
  wagon_path: z.string().nullish(),
  plugin_yaml_path: z.string().nullish(),
  icon_png_path: z.string().nullish(),
});

interface Package {
  name: string;
  version: string;
}

/** Returns the packages that a plugin.yaml declares. @throws FatalError when the text is no plugin.yaml. */
function packagesOf(text: string, at: string): Package[] {
  const read = parse(text) as Json;
  const plugins = isJsonObject(read) && isJsonObject(read.plugins) ? Object.values(read.plugins) : [];
  const packages = plugins.flatMap((plugin) =>
    isJsonObject(plugin) && plugin.package_name !== undefined
      ? [{ name: String(plugin.package_name), version: String(plugin.package_version) }]
      : [],
  );
  if (packages.length > 0) return packages;
  throw new FatalError(`${at}: a plugin.yaml with package_name and package_version is expected`);
}

/** Reads a file by URL, or of the parent's blueprint (the original read it from the manager's host). */
async function fileOf({ deps, ctx }: Scope, source: string): Promise<{ name: string; content: Uint8Array }> {
  if (!isUrl(source)) return { name: source.split('/').at(-1)!, content: await ctx.getResource(source) };
  ctx.logger.info(`Downloading ${source}...`);
  const name = decodeURIComponent(new URL(source).pathname.split('/').at(-1) ?? '');
  return { name: name || 'plugin', content: await deps.download(source, ctx.signal) };
}

async function isKnown({ manager }: Scope, { name, version }: Package): Promise<boolean> {
  const { items } = await manager.client.call('listPlugins', {
    query: { package_name: name, _include: 'package_name,package_version', _get_all_results: true },
  });
  return items.some((item) => item.package_version === version);
}

function uploadedPlugins({ instance }: Scope): string[] {
  const ids = instance.runtimeProperties.plugins;
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [];
}

/**
 * Uploads the plugins of the node's property `plugins` that the manager lacks (by name and version). Their ids are
 * stored in the runtime property `plugins`. After a crash between an upload and the store of its id, the next run finds
 * the plugin and leaves it there.
 */
export async function uploadPlugins(scope: Scope): Promise<void> {
  const { ctx, instance, properties, inputs } = scope;
  // The runtime property of this name holds ids.
  const wanted = objectSetting(
    { inputs, properties, instance: { ...instance, runtimeProperties: {} } },
    'plugins',
  );
  if (Object.keys(wanted).length === 0) return;
  const ids = uploadedPlugins(scope);
  instance.runtimeProperties.plugins = ids;
  for (const [name, setting] of Object.entries(wanted)) {
    const { wagon_path, plugin_yaml_path, icon_png_path } = parsed(pluginSetting, setting, `plugins.${name}`);
    if (!wagon_path || !plugin_yaml_path)
      throw new FatalError(
        `Provide wagon_path (got ${wagon_path ?? null}) and plugin_yaml_path (got ${plugin_yaml_path ?? null})`,
      );
    const yaml = await fileOf(scope, plugin_yaml_path);
    const packages = packagesOf(
      Buffer.from(yaml.content).toString('utf8'),
      `plugins.${name}.plugin_yaml_path`,
    );
    const known = await Promise.all(packages.map((one) => isKnown(scope, one)));
    if (known.includes(true)) {
      ctx.logger.warning(`Plugin "${name}" was already uploaded...`);
      continue;
    }
    const icon = icon_png_path ? [await fileOf(scope, icon_png_path)] : [];
    const content = await zipOf([await fileOf(scope, wagon_path), yaml, ...icon]);
    const { id } = await scope.manager.client.upload('uploadPlugin', { content, query: { title: name } });
    ids.push(id);
    await save(instance);
    ctx.logger.info(`Uploaded plugin "${name}" as ${id}`);
  }
}

/** Deletes the plugins that the node has uploaded; plugins in use stay, with a warning. */
export async function deletePlugins(scope: Scope): Promise<void> {
  const { ctx, manager } = scope;
  for (const id of uploadedPlugins(scope)) {
    try {
      await manager.client.call('deletePlugin', { params: { plugin_id: id } });
      ctx.logger.info(`Removed plugin "${id}".`);
    } catch (error) {
      if (isRefusal(error, 'plugin_in_use'))
        ctx.logger.warning(`Could not remove plugin "${id}", it is currently in use...`);
      else if (!isMissing(error)) throw error;
    }
  }
}
