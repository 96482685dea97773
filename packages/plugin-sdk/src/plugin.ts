import type { PluginOperation } from './context';
import { checkDefinition } from './define/check-definition';
import type { PluginDefinition } from './define/definition';
import { operationsFrom } from './run/operations';
import { workflowsFrom } from './run/workflows';
import type { PluginWorkflow, WorkflowFunction } from './workflow';

/** A plugin that can run. `operations`: by mapping, i.e. the text after the plugin's alias in a blueprint. */
export interface Plugin {
  readonly name: string;
  /** '' for a plugin that is a part of Baton. */
  readonly version: string;
  readonly operations: Readonly<Record<string, PluginOperation>>;
  /** Workflows by mapping. */
  readonly workflows?: Readonly<Record<string, PluginWorkflow | WorkflowFunction>>;
  /** Names of the secrets that operations may read. */
  readonly secrets?: readonly string[];
}

/** A plugin that was declared with types; `definition` is what its author wrote. */
export interface DeclaredPlugin extends Plugin {
  readonly definition: PluginDefinition;
}

/** A plugin of operations alone; its types stand in a plugin.yaml that somebody writes. */
export type RawPlugin = Omit<Plugin, 'version'> & { version?: string };

/**
 * Declares a plugin. With `types` its node types, their derived operations and plugin.yaml follow from the definition.
 * @throws DefinitionError (a TypeError) for a mistake in the definition: what, where, what was expected
 * @throws TypeError naming the entry that is not a function or has an empty mapping
 */
export function definePlugin(definition: PluginDefinition): DeclaredPlugin;
export function definePlugin(plugin: RawPlugin): Plugin;
export function definePlugin(plugin: PluginDefinition | RawPlugin): Plugin {
  if (!('types' in plugin)) return checked({ version: '', ...plugin });
  checkDefinition(plugin);
  const { name, version, secrets = [] } = plugin;
  const made: DeclaredPlugin = {
    name,
    version,
    secrets,
    operations: operationsFrom(plugin),
    workflows: workflowsFrom(plugin),
    definition: plugin,
  };
  return checked(made);
}

function checked(plugin: Plugin): Plugin {
  if (plugin.name === '') throw new TypeError('a plugin needs a name');
  for (const [mapping, operation] of Object.entries(plugin.operations)) {
    if (mapping === '') throw new TypeError(`plugin ${plugin.name}: a mapping is empty`);
    if (typeof operation !== 'function')
      throw new TypeError(`plugin ${plugin.name}: ${mapping} is not a function`);
  }
  for (const [mapping, workflow] of Object.entries(plugin.workflows ?? {})) {
    if (typeof (typeof workflow === 'function' ? workflow : workflow?.run) !== 'function')
      throw new TypeError(`plugin ${plugin.name}: workflow ${mapping} is not a function and has no run`);
  }
  return plugin;
}
