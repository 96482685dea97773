import { parseBlueprint, withBuiltinTypes } from '@baton/dsl';
import type { DeclaredPlugin } from '@baton/plugin-sdk';
import { describePlugin } from '@baton/plugin-sdk/manifest';
import { stringify } from 'yaml';

type Plan = NonNullable<Awaited<ReturnType<typeof parseBlueprint>>['plan']>;

/** The plugin.yaml of a plugin, as its package has it. */
export const pluginYamlOf = (plugin: DeclaredPlugin): string =>
  stringify(describePlugin(plugin).yaml, { aliasDuplicateObjects: false });

/** The plan of a blueprint; each plugin that it imports has this plugin.yaml. @throws Error that shows what the language refuses */
export async function planWith(pluginYaml: string, text: string): Promise<Plan> {
  const { plan, diagnostics } = await parseBlueprint({
    text,
    location: '/bp/blueprint.yaml',
    resolver: withBuiltinTypes({ read: async () => null, plugin: async () => ({ text: pluginYaml }) }),
  });
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (errors.length > 0 || !plan) throw new Error(`the blueprint has no plan: ${JSON.stringify(errors)}`);
  return plan;
}
