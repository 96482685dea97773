import type { Json, JsonObject } from '@baton/kernel';
import { isFunctionNode } from '../functions/registry';
import { gate, joinPath } from '../schema/check-shape';
import {
  childOf,
  entriesOf,
  isNull,
  MapNode,
  mapNode,
  type Node,
  setOwn,
  textOf,
  toJson,
} from '../yaml/node';
import { type ElementContext, spend } from './element-context';
import { primitiveTypes } from './primitive-types';
import {
  type DataTypeLookup,
  noProperties,
  type PropertySchema,
  type PropertySchemas,
} from './property-schema';
import { fill, isGiven, typedValue, typeOf, type ValueCheck } from './typed-value';

/** Reports a `type` that does not exist at all (E103) or not yet in this version (E102). */
export function checkType(
  context: ElementContext,
  dataTypes: DataTypeLookup,
  schema: Node,
  path: string,
): void {
  const node = childOf(schema, 'type');
  const type = textOf(node);
  if (node === undefined || type === undefined || dataTypes.has(type)) return;
  const primitive = primitiveTypes.get(type);
  if (primitive === undefined) {
    context.diagnostics.report('unknown_type', `there is no type "${type}"`, {
      at: node,
      path: joinPath(path, 'type'),
      name: type,
      valid: [...primitiveTypes.keys(), ...dataTypes.names()],
    });
  } else if (primitive.since)
    gate(context, `the type ${type}`, primitive.since, node, joinPath(path, 'type'));
}

const emptyMap = (at: Node): MapNode => new MapNode([], at.source, at.start);

/**
 * Source of defaults. Properties of a data type have that type's defaults even without a written one. Inputs and
 * parameters have only the written default, which must be complete.
 */
export type DefaultsOf = 'properties' | 'inputs';

/** Parses one schema: checks its type and its default, and completes the default from the data type. */
export function parsePropertySchema(
  context: ElementContext,
  dataTypes: DataTypeLookup,
  node: Node,
  owner: string,
  path: string,
  defaultsOf: DefaultsOf = 'properties',
): PropertySchema | null {
  if (node.kind !== 'map') return null;
  checkType(context, dataTypes, node, path);
  const type = typeOf(node);
  const required = childOf(node, 'required');
  const given = node.get('default');
  const schema: PropertySchema = {
    type,
    default: given,
    required: !(required?.kind === 'scalar' && required.value === false),
    node,
  };
  const check: ValueCheck = {
    context,
    dataTypes,
    owner,
    path: joinPath(path, 'default'),
    allowMissing: defaultsOf === 'properties',
  };
  const isMade = defaultsOf === 'properties' && type !== null && dataTypes.has(type);
  const value = isGiven(given) ? given : isMade ? emptyMap(node) : null;
  if (value !== null) schema.default = typedValue(check, value, type, undefined, check.path);
  return schema;
}

/** Parses the schemas under `properties` (or `parameters`, ...) of an element. */
export function parsePropertySchemas(
  context: ElementContext,
  dataTypes: DataTypeLookup,
  node: Node | undefined,
  owner: string,
  path: string,
  defaultsOf: DefaultsOf = 'properties',
): PropertySchemas {
  const entries = entriesOf(node);
  if (entries.length === 0) return noProperties;
  const schemas = new Map<string, PropertySchema>();
  for (const entry of entries) {
    const schema = parsePropertySchema(
      context,
      dataTypes,
      // an empty schema has no requirements
      isNull(entry.value) ? mapNode([], entry.value) : entry.value,
      `${defaultsOf === 'inputs' ? 'input' : 'property'} "${entry.name}" of ${owner}`,
      joinPath(path, entry.name),
      defaultsOf,
    );
    if (schema) schemas.set(entry.name, schema);
  }
  return schemas;
}

/**
 * Merges a type's schemas with its parent's: the child's schemas replace the parent's completely. Only when both
 * declare the same data type, the parent's default completes the child's (reference 2.4).
 */
export function inheritProperties(
  context: ElementContext,
  dataTypes: DataTypeLookup,
  own: PropertySchemas,
  parent: PropertySchemas,
): PropertySchemas {
  if (own.size === 0) return parent;
  if (parent.size === 0) return own;
  spend(context.work, own.size + parent.size);
  const result = new Map<string, PropertySchema>();
  for (const [name, schema] of own) {
    const above = parent.get(name);
    const dataType = schema.type === null ? undefined : dataTypes.get(schema.type);
    const inherited = above?.default;
    if (
      !dataType ||
      above?.type !== schema.type ||
      inherited?.kind !== 'map' ||
      isFunctionNode(inherited) ||
      isFunctionNode(schema.node.get('default'))
    ) {
      result.set(name, schema);
      continue;
    }
    const given = schema.node.get('default');
    const check: ValueCheck = {
      context,
      dataTypes,
      owner: `property "${name}"`,
      path: '',
      allowMissing: true,
    };
    result.set(name, {
      ...schema,
      default: fill(
        check,
        given?.kind === 'map' ? given : emptyMap(schema.node),
        dataType.properties,
        inherited,
        '',
      ),
    });
  }
  for (const [name, schema] of parent) if (!result.has(name)) result.set(name, schema);
  return result;
}

/** Returns a schema in the form of the plan: the author's keys, with the default completed. */
export function schemaJson(schema: PropertySchema): JsonObject {
  const result: JsonObject = {};
  for (const entry of schema.node.entries) {
    if (entry.name === 'default') continue;
    setOwn(result, entry.name, toJson(entry.value) as Json);
  }
  if (schema.default !== undefined) result.default = jsonOf(schema.default);
  return result;
}

export function schemasJson(schemas: PropertySchemas): JsonObject {
  const result: JsonObject = {};
  for (const [name, schema] of schemas) setOwn(result, name, schemaJson(schema) as Json);
  return result;
}

const jsonByNode = new WeakMap<Node, Json>();

/** Returns the value of a node that many elements share (defaults): built once and shared, so it must not be changed. */
export function jsonOf(node: Node): Json {
  if (node.kind === 'scalar') return node.value;
  let json = jsonByNode.get(node);
  if (json === undefined) {
    json = toJson(node);
    jsonByNode.set(node, json);
  }
  return json;
}
