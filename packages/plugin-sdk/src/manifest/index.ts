import type { JsonObject } from '@baton/kernel';
import type { DeclaredPlugin } from '../plugin';
import { DefinitionError } from '../schema/definition-error';
import { pluginYaml } from './plugin-yaml';

/** What a package of a plugin says about the plugin. */
export interface PluginDescription {
  name: string;
  version: string;
  description: string;
  /** Names of node types, without aliases. */
  types: string[];
  /** The plugin.yaml as an object. */
  yaml: JsonObject;
}

/**
 * Describes the default export of a plugin; `baton plugins build` writes the answer into the package.
 * @throws DefinitionError when it was not made by definePlugin with types
 */
export function describePlugin(exported: unknown): PluginDescription {
  const { definition } = (exported ?? {}) as Partial<DeclaredPlugin>;
  if (definition === undefined)
    throw new DefinitionError(
      ['plugin'],
      'the default export declares no types',
      'export default definePlugin({ name, version, types, ... })',
    );
  const { name, version, description = '', types } = definition;
  return { name, version, description, types: Object.keys(types), yaml: pluginYaml(definition) };
}
