import type { Json } from '@baton/kernel';
import { describePlugin } from '../manifest';
import type { DeclaredPlugin } from '../plugin';
import { type BlueprintLanguage, checkLanguage } from './check-language';
import { checkOperations } from './check-operations';
import { TestFailure } from './test-failure';
import type { CheckedPlugin, TypeSample } from './type-sample';

export interface CheckPluginOptions {
  /** Samples by the name of the type. A type without one is checked as far as its definition goes. */
  samples?: Readonly<Record<string, TypeSample>>;
  /** The package @baton/dsl: plugin.yaml and a blueprint with each type are parsed by it. Without it they are not. */
  language?: BlueprintLanguage;
}

/**
 * The contract of a plugin: each type has a description; each mapping of plugin.yaml has an operation; the language accepts plugin.yaml
 * and a node of each type; operations run, and their log lines, errors and stored runtime properties hold no sensitive value; resumable
 * operations survive a crash behind each step.
 * @throws TestFailure with all that is wrong
 */
export async function checkPlugin(
  plugin: DeclaredPlugin,
  { samples = {}, language }: CheckPluginOptions = {},
): Promise<CheckedPlugin> {
  const { types } = plugin.definition;
  const problems: string[] = Object.keys(samples)
    .filter((name) => !Object.hasOwn(types, name))
    .map((name) => `there is a sample of ${name}, which is no type of the plugin`);
  const { yaml } = describePlugin(plugin);
  for (const [name, type] of Object.entries(types))
    if (type.description === undefined) problems.push(`${name} has no description`);
  problems.push(...missingOperations(plugin, yaml));
  if (language !== undefined) problems.push(...(await checkLanguage(plugin, yaml, language, samples)));
  const checked: CheckedPlugin = { types: Object.keys(types), ran: [], survived: [], withoutSample: [] };
  for (const [name, type] of Object.entries(types)) {
    const sample = samples[name];
    if (sample === undefined) checked.withoutSample.push(name);
    else problems.push(...(await checkOperations(plugin, name, type, sample, checked)));
  }
  if (problems.length > 0) throw new TestFailure(`the plugin ${plugin.name}:\n- ${problems.join('\n- ')}`);
  return checked;
}

/** Mappings in plugin.yaml that have no operation and no workflow. */
function missingOperations(plugin: DeclaredPlugin, yaml: Json): string[] {
  const known = (mapping: string): boolean => {
    const name = mapping.slice(mapping.indexOf('.') + 1);
    return Object.hasOwn(plugin.operations, name) || Object.hasOwn(plugin.workflows ?? {}, name);
  };
  return mappingsIn(yaml)
    .filter((mapping) => !known(mapping))
    .map((mapping) => `plugin.yaml names ${mapping}, which the plugin does not have`);
}

function mappingsIn(value: Json): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    (key === 'implementation' || key === 'mapping') && typeof inner === 'string' && inner.includes('.')
      ? [inner]
      : mappingsIn(inner),
  );
}
