import type { Json, JsonObject } from '@baton/kernel';
import type { PluginDefinition } from '../define/definition';
import type { DeclaredPlugin } from '../plugin';
import { DefinitionError } from '../schema/definition-error';
import { docsPage } from './docs-page';
import { docsSchema, type ToJsonSchema } from './docs-schema';
import { pluginYaml } from './plugin-yaml';

/** What a package of a plugin says about the plugin. */
export interface PluginDescription {
  name: string;
  version: string;
  description: string;
  /** Names of node types, without aliases. */
  types: string[];
  /** Names of the secrets that operations may read. */
  secrets: string[];
  /** Texts about types, by the path of the type in plugin.yaml: the language has comments only. */
  comments: { path: string[]; text: string }[];
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
  const yaml = pluginYaml(definition);
  requireAscii(yaml, ['plugin.yaml']);
  for (const { path, text } of commentsOf(definition)) requireAscii(text, ['plugin.yaml', ...path]);
  return {
    name,
    version,
    description,
    types: Object.keys(types),
    secrets: [...(definition.secrets ?? [])],
    comments: commentsOf(definition),
    yaml,
  };
}

/** A page and a JSON Schema about a plugin. */
export interface PluginDocs {
  /** Markdown. */
  page: string;
  schema: JsonObject;
}

/**
 * Documents the default export of a plugin; `baton plugins docs` writes the answer into files.
 * @throws DefinitionError when it was not made by definePlugin with types
 */
export function documentPlugin(exported: unknown, toJsonSchema: ToJsonSchema): PluginDocs {
  describePlugin(exported);
  const { definition } = exported as DeclaredPlugin;
  return { page: docsPage(definition), schema: docsSchema(definition, toJsonSchema) };
}

function commentsOf({ types, relationships = {} }: PluginDefinition): PluginDescription['comments'] {
  const sections = Object.entries({ node_types: types, relationships });
  return sections.flatMap(([section, declared]) =>
    Object.entries(declared as Record<string, { description?: string }>).flatMap(([name, { description }]) =>
      description === undefined ? [] : [{ path: [section, name], text: description }],
    ),
  );
}

/** The language allows no other characters, also in descriptions and defaults. */
function requireAscii(value: Json, path: readonly string[]): void {
  if (typeof value === 'string' && !ASCII.test(value))
    throw new DefinitionError(path, `${JSON.stringify(value)} has other characters than ASCII`, 'ASCII');
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    requireAscii(key, path);
    requireAscii(inner as Json, [...path, key]);
  }
}

const ASCII = /^[\x00-\x7f]*$/;
