import type { Json } from '@baton/kernel';
import { childOf, type Entry, fromJson, itemsOf, MapNode, type Node, ScalarNode, SeqNode } from '../yaml/node';
import type { FoundPlugin } from './resolver';

interface ImportedBlueprint {
  importedBlueprint: string;
  namespace: string;
  at: Node;
}

/**
 * Sections that the import itself adds: for a blueprint its id and namespace, for a plugin the labels and tags that are
 * stored with it (those in its file are dropped).
 */
export function internalSections(root: MapNode, from: ImportedBlueprint | FoundPlugin): MapNode {
  return 'importedBlueprint' in from ? forBlueprint(root, from) : forPlugin(root, from);
}

function section(name: string, value: Node): Entry {
  return { name, key: new ScalarNode(name, 'string', value.source, value.start), value };
}

function replaceSections(root: MapNode, sections: readonly Entry[], dropped: ReadonlySet<string>): MapNode {
  return new MapNode([...root.entries.filter((e) => !dropped.has(e.name)), ...sections], root.source, root.start);
}

function forBlueprint(root: MapNode, { importedBlueprint, namespace, at }: ImportedBlueprint): MapNode {
  const ids = new SeqNode([fromJson(importedBlueprint, at), ...itemsOf(childOf(root, 'imported_blueprints'))], at.source, at.start);
  const nested = childOf(root, 'namespaces_mapping');
  const own = fromJson({ [namespace]: importedBlueprint }, at) as MapNode;
  const mapping = new MapNode([...own.entries, ...(nested?.kind === 'map' ? nested.entries : [])], at.source, at.start);
  const sections = [section('imported_blueprints', ids), section('namespaces_mapping', mapping)];
  return replaceSections(root, sections, new Set(['imported_blueprints', 'namespaces_mapping']));
}

function forPlugin(root: MapNode, plugin: FoundPlugin): MapNode {
  const wrap = (labels: Record<string, string[]>): Json => Object.fromEntries(Object.entries(labels).map(([key, values]) => [key, { values }]));
  const sections: Entry[] = [];
  if (plugin.labels) sections.push(section('labels', fromJson(wrap(plugin.labels), root)));
  if (plugin.blueprintLabels) sections.push(section('blueprint_labels', fromJson(wrap(plugin.blueprintLabels), root)));
  if (plugin.resourceTags) sections.push(section('resource_tags', fromJson(plugin.resourceTags, root)));
  return replaceSections(root, sections, new Set(['labels', 'blueprint_labels', 'resource_tags']));
}
