/** The names declared by a blueprint and its imports: for editors, also while other parts of it are wrong. Pure. */
import {
  childOf,
  type Entry,
  entriesOf,
  itemsOf,
  type MapNode,
  type Node,
  textOf,
  toJson,
} from '../yaml/node';

export interface OutlineProperty {
  type: string | null;
  description: string | null;
  isRequired: boolean;
  /** As in the schema; undefined without one. */
  default?: unknown;
}

export interface OutlineType {
  /** Parent types, the nearest first, the root last. */
  parents: string[];
  properties: ReadonlyMap<string, OutlineProperty>;
  /** Operations by interface. */
  interfaces: ReadonlyMap<string, readonly string[]>;
}

export interface OutlineNode {
  name: string;
  type: string;
  /** As in the blueprint: a number, a function, or nothing. */
  instances: unknown;
  relationships: { type: string; target: string; hierarchy: string[] }[];
  /** Place of the declaration: the name of the text, and the line from 1. */
  file: string | null;
  line: number;
}

export interface BlueprintOutline {
  nodeTypes: ReadonlyMap<string, OutlineType>;
  relationshipTypes: ReadonlyMap<string, OutlineType>;
  dataTypes: ReadonlyMap<string, OutlineType>;
  inputs: ReadonlyMap<string, OutlineProperty>;
  nodes: OutlineNode[];
  groups: string[];
  capabilities: string[];
}

/** Type hierarchies deeper than this are cut off; the parser refuses them. */
const MOST_PARENTS = 300;

/** Returns the outline of a merged document. */
export function outlineOf(root: MapNode): BlueprintOutline {
  const relationshipTypes = typesOf(root.get('relationships'), 'source_interfaces');
  return {
    nodeTypes: typesOf(root.get('node_types'), 'interfaces'),
    relationshipTypes,
    dataTypes: typesOf(root.get('data_types'), 'interfaces'),
    inputs: propertiesOf(root.get('inputs')),
    nodes: entriesOf(root.get('node_templates')).map((entry) => nodeOf(entry, relationshipTypes)),
    groups: entriesOf(root.get('groups')).map(({ name }) => name),
    capabilities: entriesOf(root.get('capabilities')).map(({ name }) => name),
  };
}

function typesOf(section: Node | undefined, interfaces: string): Map<string, OutlineType> {
  const entries = new Map(entriesOf(section).map(({ name, value }) => [name, value]));
  const types = new Map<string, OutlineType>();
  for (const [name, node] of entries) types.set(name, typeOf(name, node, entries, interfaces));
  return types;
}

/** Returns a type with its inherited parts; nearer types take precedence. A cycle ends where it closes. */
function typeOf(name: string, own: Node, all: ReadonlyMap<string, Node>, interfaces: string): OutlineType {
  const properties = new Map<string, OutlineProperty>();
  const operations = new Map<string, string[]>();
  const parents: string[] = [];
  const seen = new Set([name]);
  for (let node: Node | undefined = own; node; ) {
    for (const [key, property] of propertiesOf(childOf(node, 'properties')))
      if (!properties.has(key)) properties.set(key, property);
    for (const { name: key, value } of entriesOf(childOf(node, interfaces))) {
      const names = entriesOf(value).map((one) => one.name);
      operations.set(key, [...new Set([...(operations.get(key) ?? []), ...names])]);
    }
    const parent = textOf(childOf(node, 'derived_from'));
    if (parent === undefined || seen.has(parent) || seen.size > MOST_PARENTS) break;
    seen.add(parent);
    parents.push(parent);
    node = all.get(parent);
  }
  return { parents, properties, interfaces: operations };
}

function propertiesOf(section: Node | undefined): Map<string, OutlineProperty> {
  return new Map(
    entriesOf(section).map(({ name, value }) => {
      const given = childOf(value, 'default');
      const required = childOf(value, 'required');
      return [
        name,
        {
          type: textOf(childOf(value, 'type')) ?? null,
          description: textOf(childOf(value, 'description')) ?? null,
          isRequired: given === undefined && !(required?.kind === 'scalar' && required.value === false),
          ...(given ? { default: toJson(given) } : {}),
        },
      ];
    }),
  );
}

function nodeOf({ name, key, value: node }: Entry, types: ReadonlyMap<string, OutlineType>): OutlineNode {
  const scaling = childOf(childOf(childOf(node, 'capabilities'), 'scalable'), 'properties');
  const instances = childOf(scaling, 'default_instances') ?? childOf(childOf(node, 'instances'), 'deploy');
  return {
    name,
    type: textOf(childOf(node, 'type')) ?? '',
    instances: instances ? toJson(instances) : null,
    relationships: itemsOf(childOf(node, 'relationships')).flatMap((one) => {
      const type = textOf(childOf(one, 'type'));
      const target = textOf(childOf(one, 'target'));
      if (type === undefined || target === undefined) return [];
      return [{ type, target, hierarchy: [...(types.get(type)?.parents ?? [])].reverse().concat(type) }];
    }),
    file: key.source.name,
    line: key.source.position(key.start).line,
  };
}
