import type { Json, JsonObject } from '@baton/kernel';
import { childOf, entriesOf, setOwn, textOf } from '../yaml/node';
import type { DataTypes } from './data-types';
import { resolveDerivation } from './derivation';
import { type ElementContext, spend } from './element-context';
import {
  type MergedInterfaces,
  mergeInterfaces,
  parseTypeInterfaces,
  type TypeInterfaces,
  typeInterfacesJson,
} from './interfaces';
import { type Mappings, type ResolvedOperations, resolveOperations } from './operations';
import { inheritProperties, parsePropertySchemas, schemasJson } from './properties';
import { noProperties, type PropertySchemas } from './property-schema';

/** The interfaces of elements that add nothing to their type: computed once and shared. */
export interface PlainInterfaces {
  merged: MergedInterfaces;
  resolved: ResolvedOperations;
}

export interface NodeType {
  name: string;
  hierarchy: readonly string[];
  properties: PropertySchemas;
  interfaces: TypeInterfaces;
  /** Compute types and all types derived from one are hosts, in any namespace. */
  isHost: boolean;
  /** Derived from an unknown type: may have more parts than are known. */
  isPartial: boolean;
  plain: PlainInterfaces | null;
}

const HOST = 'cloudify.nodes.Compute';

/** Replaces a missing type, so that the rest of its node is still checked. */
export function unknownNodeType(name: string): NodeType {
  return {
    name,
    hierarchy: [],
    properties: noProperties,
    interfaces: new Map(),
    isHost: true,
    isPartial: true,
    plain: null,
  };
}

/** Parses the node types of a document and applies inheritance (reference 2.4). */
export function parseNodeTypes(context: ElementContext, dataTypes: DataTypes): Map<string, NodeType> {
  return resolveDerivation<NodeType>(
    context,
    'node_types',
    entriesOf(context.root.get('node_types')),
    ({ name, value }, parent, isPartial) => {
      const path = `node_types.${name}`;
      const own = parsePropertySchemas(
        context,
        dataTypes,
        childOf(value, 'properties'),
        `node type "${name}"`,
        `${path}.properties`,
      );
      parsePropertySchemas(
        context,
        dataTypes,
        childOf(value, 'runtime_properties'),
        `node type "${name}"`,
        `${path}.runtime_properties`,
      );
      return {
        name,
        hierarchy: [...(parent?.hierarchy ?? []), name],
        properties: inheritProperties(context, dataTypes, own, parent?.properties ?? noProperties),
        interfaces: parseTypeInterfaces(
          context,
          dataTypes,
          childOf(value, 'interfaces'),
          parent?.interfaces ?? null,
          `${path}.interfaces`,
        ),
        isHost: (parent?.isHost ?? false) || name.includes(HOST) || isPartial,
        isPartial,
        plain: null,
      };
    },
  ).resolved;
}

export interface RelationshipType {
  name: string;
  parent: string | undefined;
  hierarchy: readonly string[];
  properties: PropertySchemas;
  source: TypeInterfaces;
  target: TypeInterfaces;
  isPartial: boolean;
  plainSource: PlainInterfaces | null;
  plainTarget: PlainInterfaces | null;
}

/** Like `unknownNodeType`. */
export function unknownRelationshipType(name: string): RelationshipType {
  return {
    name,
    parent: undefined,
    hierarchy: [],
    properties: noProperties,
    source: new Map(),
    target: new Map(),
    isPartial: true,
    plainSource: null,
    plainTarget: null,
  };
}

/** Parses the relationship types of a document and applies inheritance (reference 2.5). */
export function parseRelationshipTypes(
  context: ElementContext,
  dataTypes: DataTypes,
): Map<string, RelationshipType> {
  return resolveDerivation<RelationshipType>(
    context,
    'relationships',
    entriesOf(context.root.get('relationships')),
    ({ name, value }, parent, isPartial) => {
      const path = `relationships.${name}`;
      const own = parsePropertySchemas(
        context,
        dataTypes,
        childOf(value, 'properties'),
        `relationship "${name}"`,
        `${path}.properties`,
      );
      const side = (key: 'source' | 'target'): TypeInterfaces =>
        parseTypeInterfaces(
          context,
          dataTypes,
          childOf(value, `${key}_interfaces`),
          parent?.[key] ?? null,
          `${path}.${key}_interfaces`,
        );
      return {
        name,
        parent: textOf(childOf(value, 'derived_from')),
        hierarchy: [...(parent?.hierarchy ?? []), name],
        properties: inheritProperties(context, dataTypes, own, parent?.properties ?? noProperties),
        source: side('source'),
        target: side('target'),
        isPartial,
        plainSource: null,
        plainTarget: null,
      };
    },
  ).resolved;
}

/** Implementations of relationship types must exist even when the type is not used. */
export function checkRelationshipOperations(
  context: ElementContext,
  mappings: Mappings,
  types: ReadonlyMap<string, RelationshipType>,
): void {
  for (const type of types.values()) {
    for (const side of ['source', 'target'] as const) {
      // inherited operations were checked with the parent
      if (type.parent !== undefined && types.get(type.parent)?.[side] === type[side]) continue;
      for (const [name, operations] of type[side]) {
        for (const [op, operation] of operations) {
          if (operation.implementation === '') continue;
          const mapping = mappings.resolve(
            operation.implementation,
            (input) => operation.inputs.has(input),
            'unresolved_relationship_operation',
          );
          if (!('kind' in mapping)) continue;
          context.diagnostics.report(mapping.kind, mapping.message, {
            at: operation.node,
            path: `relationships.${type.name}.${side}_interfaces.${name}.${op}`,
            expected: 'PLUGIN.FUNCTION or the path of a script',
          });
        }
      }
    }
  }
}

/** The plan's `relationships`. */
export function relationshipTypesJson(
  context: ElementContext,
  types: ReadonlyMap<string, RelationshipType>,
): JsonObject {
  const result: JsonObject = {};
  // in the order of the document, not of derivation
  for (const { name } of entriesOf(context.root.get('relationships'))) {
    const type = types.get(name);
    if (!type) continue;
    spend(context.work, type.hierarchy.length);
    setOwn(result, name, {
      ...(type.parent === undefined ? {} : { derived_from: type.parent }),
      properties: schemasJson(type.properties),
      source_interfaces: typeInterfacesJson(type.source),
      target_interfaces: typeInterfacesJson(type.target),
      name,
      type_hierarchy: [...type.hierarchy],
    } as Json);
  }
  return result;
}

/** Returns interfaces and operations of an element without its own interfaces. */
export function plainInterfaces(
  context: ElementContext,
  mappings: Mappings,
  interfaces: TypeInterfaces,
  kind: 'unresolved_node_operation' | 'unresolved_relationship_operation',
): PlainInterfaces {
  const merged = mergeInterfaces(context, interfaces, undefined, '');
  return { merged, resolved: resolveOperations(mappings, merged, kind) };
}
