import type { PluginOperation } from './context';

/** A plugin written in JavaScript: operations by mapping, i.e. the text behind the plugin's alias in a blueprint. */
export interface Plugin {
  readonly name: string;
  readonly operations: Readonly<Record<string, PluginOperation>>;
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
  return plugin;
}
