import type { JsonObject } from '@baton/kernel';
import type { DeclaredPlugin } from '../plugin';
import type { TypeSample } from './type-sample';

interface Text {
  text: string;
}

/** The parts of @baton/dsl that a check needs. */
export interface BlueprintLanguage {
  parseBlueprint(request: {
    text: string;
    location: string;
    resolver: never;
  }): Promise<{ diagnostics: readonly { severity: string; message: string; path: string }[] }>;
  withBuiltinTypes(inner: { read(url: string): Promise<null>; plugin(): Promise<Text> }): unknown;
}

const MOST_SHOWN = 5;

/** Parses a blueprint with a node of each type and alias. Returns what the language refuses. */
export async function checkLanguage(
  plugin: DeclaredPlugin,
  yaml: JsonObject,
  language: BlueprintLanguage,
  samples: Readonly<Record<string, TypeSample>>,
): Promise<string[]> {
  const nodes = Object.entries(plugin.definition.types).flatMap(([name, { aliases = [] }]) => {
    const properties = samples[name]?.properties;
    // Nobody knows values for required properties without a sample.
    return properties === undefined ? [] : [name, ...aliases].map((type) => ({ type, properties }));
  });
  const blueprint = {
    tosca_definitions_version: 'cloudify_dsl_1_5',
    imports: ['cloudify/types/types.yaml', `plugin:${plugin.name}`],
    node_templates: Object.fromEntries(nodes.map((node, i) => [`node_${i}`, node])),
  };
  const { diagnostics } = await language.parseBlueprint({
    // JSON is YAML.
    text: JSON.stringify(nodes.length > 0 ? blueprint : { ...blueprint, node_templates: { root: ROOT } }),
    location: '/check/blueprint.yaml',
    resolver: language.withBuiltinTypes({
      read: async () => null,
      plugin: async () => ({ text: JSON.stringify(yaml) }),
    }) as never,
  });
  return diagnostics
    .filter(({ severity }) => severity === 'error')
    .slice(0, MOST_SHOWN)
    .map(({ message, path }) => `the language refuses ${path || 'plugin.yaml'}: ${message}`);
}

const ROOT = { type: 'cloudify.nodes.Root' };
