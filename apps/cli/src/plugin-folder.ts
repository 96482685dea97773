/** Plugins in a folder of this machine, for blueprints that are checked without a manager. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import {
  choosePluginYaml,
  derivePluginYaml13,
  type FoundPlugin,
  type PluginSpec,
  pluginMisfit,
  readYamlJson,
  selectPlugin,
  type Unreadable,
} from '@baton/dsl';
import { readYamlsOf } from './archive-yamls';
import { CommandFailure } from './failure';

interface PluginYaml {
  fileName: string;
  text: string;
}

interface LocalPlugin {
  name: string;
  version: string;
  yamls: PluginYaml[];
}

/** Reads the plugin that a blueprint imports; null: there is none in the folder. */
export type PluginReader = (spec: PluginSpec, definitionsVersion: string) => FoundPlugin | Unreadable;

/**
 * Finds all plugins below a folder: plugin.yaml files, and .bplug, .wgn and .zip archives that hold one. They are found by name and version
 * as the manager does.
 * @throws CommandFailure when there is no such folder, or an archive cannot be read
 */
export async function readPluginFolder(folder: string): Promise<PluginReader> {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new CommandFailure(`${folder}: there is no such folder`);
  const plugins = new Map<string, LocalPlugin>();
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const file of files) {
    // The yaml files beside one another, or in one archive, belong to one plugin.
    if (/\.ya?ml$/i.test(file)) addPlugin(plugins, dirname(file), basename(file), readFileSync(file, 'utf8'));
    if (/\.(wgn|zip|bplug)$/i.test(file))
      for (const { name, text } of await readYamlsOf(file)) addPlugin(plugins, file, basename(name), text);
  }
  const found = [...plugins.values()];
  return (spec, definitionsVersion) => choose(found, spec, definitionsVersion);
}

function addPlugin(plugins: Map<string, LocalPlugin>, place: string, fileName: string, text: string): void {
  const declared = packageOf(text);
  if (declared === null) return;
  const key = JSON.stringify([place, declared.name, declared.version]);
  const plugin = plugins.get(key) ?? { ...declared, yamls: [] };
  plugin.yamls.push({ fileName, text });
  plugins.set(key, plugin);
}

/** Returns name and version of the package that the plugins section of a YAML file names first; null: it has none. */
function packageOf(text: string): { name: string; version: string } | null {
  const read = readYamlJson(text);
  const plugins = read.ok ? (read.value as { plugins?: unknown } | null)?.plugins : null;
  if (typeof plugins !== 'object' || plugins === null) return null;
  for (const plugin of Object.values(plugins) as ({
    package_name?: unknown;
    package_version?: unknown;
  } | null)[])
    if (plugin?.package_name !== undefined)
      return { name: String(plugin.package_name), version: String(plugin.package_version ?? '') };
  return null;
}

function choose(
  plugins: readonly LocalPlugin[],
  spec: PluginSpec,
  definitionsVersion: string,
): FoundPlugin | Unreadable {
  const named = plugins.filter(({ name }) => name === spec.name);
  // The files do not say for which distribution a wagon was made.
  const chosen = selectPlugin({ ...spec, distribution: null }, named);
  if (chosen === null) {
    if (named.length > 0) return { unreadable: pluginMisfit(spec, named) };
    return {
      unreadable: `no plugin "${spec.name}" is in the folder of plugins`,
      valid: [...new Set(plugins.map(({ name }) => name))],
    };
  }
  const names = chosen.yamls.map(({ fileName }) => fileName);
  const file = choosePluginYaml(names, definitionsVersion);
  const yaml = chosen.yamls.find(({ fileName }) => fileName === file);
  if (yaml === undefined)
    return {
      unreadable: `${spec.name} ${chosen.version} has no one yaml for blueprints of version ${definitionsVersion}, only ${names.join(', ')}`,
    };
  // As the manager does: an author writes no file of his own for the older language.
  const isOlder = definitionsVersion === '1_3' && !yaml.fileName.endsWith('_1_3.yaml');
  return { text: (isOlder ? derivePluginYaml13(yaml.text) : null) ?? yaml.text };
}
