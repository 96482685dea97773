import type { Json, JsonObject } from '@baton/kernel';
import { childOf, entriesOf, isNull, type MapNode, setOwn, textOf, toJson } from '../yaml/node';
import type { ElementContext } from './element-context';

/** A plugin in the form of the plan (reference 6): always with all these fields. */
export type PlanPlugin = {
  source: string | null;
  executor: string;
  install: boolean;
  install_arguments: string | null;
  package_name: string | null;
  package_version: string | null;
  supported_platform: string | null;
  distribution: string | null;
  distribution_version: string | null;
  distribution_release: string | null;
  properties_description: string | null;
  properties: JsonObject;
  name: string;
};

export const EXECUTORS = ['central_deployment_agent', 'host_agent'];

export function parsePlugins(context: ElementContext): Map<string, PlanPlugin> {
  const plugins = new Map<string, PlanPlugin>();
  for (const entry of entriesOf(context.root.get('plugins'))) {
    if (entry.value.kind === 'map') plugins.set(entry.name, parsePlugin(context, entry.name, entry.value));
  }
  return plugins;
}

function parsePlugin(context: ElementContext, name: string, node: MapNode): PlanPlugin {
  const text = (key: string): string | null => textOf(node.get(key)) ?? null;
  const path = `plugins.${name}`;
  const executor = text('executor');
  if (executor !== null && !EXECUTORS.includes(executor)) {
    context.diagnostics.report(
      'bad_plugin_executor',
      `the plugin "${name}" has the unknown executor "${executor}"`,
      { at: node.get('executor'), path: `${path}.executor`, name: executor, valid: EXECUTORS },
    );
  }
  const install = node.get('install');
  const plugin: PlanPlugin = {
    source: text('source'),
    executor: executor ?? '',
    install: !(install?.kind === 'scalar' && install.value === false),
    install_arguments: text('install_arguments'),
    package_name: text('package_name'),
    package_version: text('package_version'),
    supported_platform: text('supported_platform'),
    distribution: text('distribution'),
    distribution_version: text('distribution_version'),
    distribution_release: text('distribution_release'),
    properties_description: text('properties_description'),
    properties: pluginProperties(node),
    name,
  };
  if (plugin.install && !plugin.source && !plugin.package_name) {
    context.diagnostics.report(
      'plugin_without_source',
      `the plugin "${name}" is to be installed but has neither source nor package_name`,
      { at: node, path, expected: 'package_name, source, or install: false' },
    );
  }
  return plugin;
}

function pluginProperties(node: MapNode): JsonObject {
  const result: JsonObject = {};
  for (const entry of entriesOf(childOf(node, 'properties')))
    setOwn(result, entry.name, isNull(entry.value) ? {} : (toJson(entry.value) as Json));
  return result;
}
