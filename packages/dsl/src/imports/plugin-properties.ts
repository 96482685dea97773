import type { Diagnostics } from '../diagnostics/diagnostic';
import { isFunctionNode } from '../functions/registry';
import { childOf, type Entry, entriesOf, MapNode, type Node, ScalarNode, textOf } from '../yaml/node';
import type { ImportItem } from './import-items';

/** Whether a plugin property of the declared type accepts a value; null when there is no such type. */
function fits(value: Node, type: string): boolean | null {
  const found = value.kind === 'scalar' ? value.type : value.kind;
  if (isFunctionNode(value)) return true;
  switch (type) {
    case 'string':
      return found === 'string' || found === 'integer';
    case 'integer':
      return found === 'integer';
    case 'float':
      return found === 'integer' || found === 'float';
    case 'boolean':
      return found === 'boolean';
    case 'list':
      return found === 'seq';
    default:
      return null;
  }
}

/** Writes the properties of an import into the plugins of the imported file (reference 2.2, "Import properties"). */
export function applyImportProperties(root: MapNode, item: ImportItem, diagnostics: Diagnostics): MapNode {
  const given = item.properties;
  if (given === null) return root;
  const plugins = childOf(root, 'plugins');
  const problems: string[] = [];
  let isDeclared = false;
  const changed = entriesOf(plugins).map((plugin): Entry => {
    const declared = childOf(plugin.value, 'properties');
    if (plugin.value.kind !== 'map' || declared?.kind !== 'map' || declared.entries.length === 0)
      return plugin;
    isDeclared = true;
    const properties = setValues(declared, given, item, diagnostics, problems);
    return { ...plugin, value: withField(plugin.value, 'properties', properties) };
  });
  if (!isDeclared && given.entries.length > 0) problems.push('the plugin declares no properties');
  if (problems.length > 0) {
    diagnostics.report('bad_import_properties', `import of "${item.target}": ${problems.join('; ')}`, {
      at: given,
      path: item.path,
    });
  }
  if (plugins?.kind !== 'map') return root;
  return withField(root, 'plugins', new MapNode(changed, plugins.source, plugins.start));
}

function setValues(
  declared: MapNode,
  given: MapNode,
  item: ImportItem,
  diagnostics: Diagnostics,
  problems: string[],
): MapNode {
  const result = new Map(declared.entries.map((e) => [e.name, e]));
  for (const property of given.entries) {
    const schema = result.get(property.name);
    if (schema === undefined) {
      problems.push(`"${property.name}" is not a property of the plugin`);
      continue;
    }
    const type = textOf(childOf(schema.value, 'type'));
    const isFit = type === undefined ? true : fits(property.value, type);
    if (isFit === null) {
      diagnostics.report(
        'bad_import',
        `the plugin property "${property.name}" is of the type "${type}", which cannot be set by an import`,
        { at: property.value, path: item.path },
      );
    } else if (!isFit) problems.push(`"${property.name}" must be of the type ${type}`);
    else if (schema.value.kind === 'map')
      result.set(property.name, { ...schema, value: withField(schema.value, 'value', property.value) });
  }
  return new MapNode([...result.values()], declared.source, declared.start);
}

/** Returns `node` with `name` set to `value`. */
function withField(node: MapNode, name: string, value: Node): MapNode {
  const key = node.entry(name)?.key ?? new ScalarNode(name, 'string', value.source, value.start);
  const entry: Entry = { name, key, value };
  const rest = node.entries.filter((e) => e.name !== name);
  return new MapNode([...rest, entry], node.source, node.start);
}
