import type { Json } from '@baton/kernel';
import { childOf, type Entry, fromJson, MapNode, type Node, ScalarNode, SeqNode } from '../yaml/node';
import type { FoundPlugin } from './resolver';

/** Sections that the import itself adds to documents. */

function section(name: string, value: Node): Entry {
  return { name, key: new ScalarNode(name, 'string', value.source, value.start), value };
}

function replaceSections(root: MapNode, sections: readonly Entry[], dropped: ReadonlySet<string>): MapNode {
  return new MapNode(
    [...root.entries.filter((e) => !dropped.has(e.name)), ...sections],
    root.source,
    root.start,
  );
}

/** Returns a document that lists the imported blueprints, in order of occurrence, including repeated ones. */
export function importedBlueprints(main: MapNode, ids: readonly Node[]): MapNode {
  return new MapNode(
    [section('imported_blueprints', new SeqNode(ids, main.source, main.start))],
    main.source,
    main.start,
  );
}

/** Returns an imported blueprint under its namespace, with the mapping of namespaces to nested blueprints. */
export function withNamespaceMapping(root: MapNode, id: string, namespace: string, at: Node): MapNode {
  const nested = childOf(root, 'namespaces_mapping');
  const own = fromJson({ [namespace]: id }, at) as MapNode;
  const mapping = new MapNode(
    [...own.entries, ...(nested?.kind === 'map' ? nested.entries : [])],
    at.source,
    at.start,
  );
  return replaceSections(root, [section('namespaces_mapping', mapping)], new Set(['namespaces_mapping']));
}

/** Returns a plugin's document with the stored labels and tags instead of its own. */
export function withStoredLabels(root: MapNode, plugin: FoundPlugin): MapNode {
  const wrap = (labels: Record<string, string[]>): Json =>
    Object.fromEntries(Object.entries(labels).map(([key, values]) => [key, { values }]));
  const sections: Entry[] = [];
  if (plugin.labels) sections.push(section('labels', fromJson(wrap(plugin.labels), root)));
  if (plugin.blueprintLabels)
    sections.push(section('blueprint_labels', fromJson(wrap(plugin.blueprintLabels), root)));
  if (plugin.resourceTags) sections.push(section('resource_tags', fromJson(plugin.resourceTags, root)));
  return replaceSections(root, sections, new Set(['labels', 'blueprint_labels', 'resource_tags']));
}
