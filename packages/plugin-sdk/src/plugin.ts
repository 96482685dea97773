import type { PluginOperation } from './context';
import type { PluginWorkflow, WorkflowFunction } from './workflow';

/** A plugin written in JavaScript. `operations`: by mapping, i.e. the text after the plugin's alias in a blueprint. */
export interface Plugin {
  readonly name: string;
  readonly operations: Readonly<Record<string, PluginOperation>>;
  /** Workflows by mapping. */
  readonly workflows?: Readonly<Record<string, PluginWorkflow | WorkflowFunction>>;
}

/**
 * Declares a plugin.
 * @throws TypeError naming the entry that is not a function or has an empty mapping.
 */
export function definePlugin(plugin: Plugin): Plugin {
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
