import { primitiveTypes } from '../elements/primitive-types';
import { isFunctionNode } from '../functions/registry';
import type { Field, Reference, Shape } from '../schema/shape';
import { blueprintShape, unprefixedSections } from '../schema/tables';
import { type Entry, isString, MapNode, type Node, ScalarNode, SeqNode } from '../yaml/node';

export const NAMESPACE_DELIMITER = '--';

export function withNamespace(namespace: string, name: string): string {
  return `${namespace}${NAMESPACE_DELIMITER}${name}`;
}

/** `a--b--scripts/x.sh` -> `scripts/x.sh` */
export function withoutNamespace(name: string): string {
  const at = name.lastIndexOf(NAMESPACE_DELIMITER);
  return at < 0 ? name : name.slice(at + NAMESPACE_DELIMITER.length);
}

const SPECIAL_NODES = new Set(['SELF', 'SOURCE', 'TARGET']);
const BY_NODE = new Set(['get_property', 'get_attribute', 'get_attributes_list', 'get_attributes_dict']);

/** Adds `namespace` as a prefix to every name and reference of an imported document (reference 2.2, "Namespacing rules"). */
export function namespaceDocument(root: MapNode, namespace: string): MapNode {
  const entries = root.entries.map((section): Entry => {
    if (unprefixedSections.has(section.name)) return section;
    const field = Object.hasOwn(blueprintShape.fields, section.name)
      ? blueprintShape.fields[section.name]
      : undefined;
    return { ...section, value: namespaceSection(section.value, field, namespace) };
  });
  return new MapNode(entries, root.source, root.start);
}

function namespaceSection(node: Node, field: Field | undefined, namespace: string): Node {
  if (node.kind !== 'map') return node;
  const shape = field?.shape;
  const of: Shape | undefined = shape?.t === 'named' ? shape.of : undefined;
  const entries = node.entries.map((entry): Entry => {
    if (entry.basic) return entry;
    const value = of ? rewrite(entry.value, of, namespace) : entry.value;
    if (entry.key.type !== 'string') return { ...entry, value };
    const name = prefixed(entry.name, namespace);
    return { ...entry, name, key: new ScalarNode(name, 'string', entry.key.source, entry.key.start), value };
  });
  return new MapNode(entries, node.source, node.start);
}

function prefixed(name: string, namespace: string): string {
  return name.startsWith('cloudify.') ? name : withNamespace(namespace, name);
}

function rewrite(node: Node, shape: Shape, namespace: string): Node {
  switch (shape.t) {
    case 'text':
      return shape.reference && isString(node) ? rewriteReference(node, shape.reference, namespace) : node;
    case 'value':
    case 'dict':
      return rewriteFunctions(node, namespace);
    case 'list':
      return node.kind === 'seq'
        ? new SeqNode(
            node.items.map((item) => rewrite(item, shape.of, namespace)),
            node.source,
            node.start,
          )
        : node;
    case 'named':
      return mapValues(node, (entry) => rewrite(entry.value, shape.of, namespace));
    case 'object':
      return mapValues(node, (entry) => {
        const field = Object.hasOwn(shape.fields, entry.name) ? shape.fields[entry.name] : undefined;
        return field ? rewrite(entry.value, field.shape, namespace) : entry.value;
      });
    case 'either': {
      const wanted = node.kind === 'map' ? ['object', 'dict'] : ['text'];
      const chosen = shape.of.find((s) => wanted.includes(s.t));
      return chosen ? rewrite(node, chosen, namespace) : node;
    }
    default:
      return node;
  }
}

function mapValues(node: Node, change: (entry: Entry) => Node): Node {
  if (node.kind !== 'map') return node;
  return new MapNode(
    node.entries.map((entry) => ({ ...entry, value: change(entry) })),
    node.source,
    node.start,
  );
}

function rewriteReference(
  node: ScalarNode & { value: string },
  reference: Reference,
  namespace: string,
): Node {
  const { value } = node;
  if (value === '' || (reference === 'type' && primitiveTypes.has(value))) return node;
  // a script written inside the blueprint is a text, not a name
  if (reference === 'implementation' && value.trim().includes('\n')) return node;
  const name = prefixed(value, namespace);
  return name === value ? node : new ScalarNode(name, 'string', node.source, node.start);
}

/** Adds the prefix to functions that name inputs or nodes, at any depth. */
function rewriteFunctions(node: Node, namespace: string): Node {
  if (node.kind === 'scalar') return node;
  if (node.kind === 'seq')
    return new SeqNode(
      node.items.map((item) => rewriteFunctions(item, namespace)),
      node.source,
      node.start,
    );
  const isFunction = isFunctionNode(node);
  return mapValues(node, (entry) => {
    const value = rewriteFunctions(entry.value, namespace);
    if (!isFunction) return value;
    if (entry.name === 'get_input') return rewriteFirst(value, namespace, true);
    return BY_NODE.has(entry.name) ? rewriteFirst(value, namespace, false) : value;
  });
}

function rewriteFirst(node: Node, namespace: string, isInput: boolean): Node {
  if (isInput && isString(node)) return rewriteReference(node, 'name', namespace);
  if (node.kind !== 'seq') return node;
  const [first, ...rest] = node.items;
  if (!isString(first) || (!isInput && SPECIAL_NODES.has(first.value))) return node;
  return new SeqNode([rewriteReference(first, 'name', namespace), ...rest], node.source, node.start);
}
