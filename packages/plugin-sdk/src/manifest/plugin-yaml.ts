import type { Json, JsonObject } from '@baton/kernel';
import type { PluginDefinition } from '../define/definition';
import type { AnyNodeType } from '../define/node-type';
import { inputsOf, mappingOf, operationsOf } from '../define/operation-names';
import type { RelationshipType } from '../define/relationship-type';
import { sidesOf } from '../run/operations';
import { type Described, describeShape, type ObjectSchema } from '../schema/describe';

/**
 * Kinds of values in the language. Properties have no constraints. Inputs of operations may be given by a workflow: a node that
 * gives none is valid, and the operation itself checks them.
 */
type Values = 'properties' | 'inputs' | 'parameters';

/**
 * The plugin.yaml of a plugin as an object: what blueprints import.
 * @throws DefinitionError for a schema that the blueprint language cannot describe
 */
export function pluginYaml(plugin: PluginDefinition): JsonObject {
  const dataTypes: Record<string, Json> = {};
  const valuesOf = (schema: ObjectSchema | undefined, kind: Values, owner: string): JsonObject =>
    schema === undefined ? {} : schemaOf(schema, kind, owner, dataTypes);
  const nodeTypes: Record<string, Json> = {};
  for (const [name, type] of Object.entries(plugin.types)) {
    nodeTypes[name] = nodeTypeOf(plugin, name, type, valuesOf);
    for (const alias of type.aliases ?? []) nodeTypes[alias] = { derived_from: name };
  }
  const relationships: Record<string, Json> = {};
  for (const [name, type] of Object.entries(plugin.relationships ?? {})) {
    relationships[name] = relationshipOf(plugin, name, type, valuesOf);
    for (const alias of type.aliases ?? []) relationships[alias] = { derived_from: name };
  }
  const workflows: Record<string, Json> = {};
  for (const [name, { parameters, mapping, availableWhen }] of Object.entries(plugin.workflows ?? {}))
    workflows[name] = {
      mapping: mapping ?? `${plugin.name}.${name}`,
      ...(availableWhen === undefined
        ? {}
        : { availability_rules: { node_instances_active: [...availableWhen] } }),
      parameters: valuesOf(parameters, 'parameters', `${plugin.name}.workflows.${name}`),
    };
  const entry = {
    executor: 'central_deployment_agent',
    package_name: plugin.name,
    package_version: plugin.version,
  };
  return {
    plugins: Object.fromEntries([plugin.name, ...(plugin.aliases ?? [])].map((name) => [name, entry])),
    ...filled({ data_types: dataTypes, node_types: nodeTypes, relationships, workflows }),
  };
}

type ValuesOf = (schema: ObjectSchema | undefined, kind: Values, owner: string) => JsonObject;

function nodeTypeOf(
  plugin: PluginDefinition,
  name: string,
  type: AnyNodeType,
  valuesOf: ValuesOf,
): JsonObject {
  const interfaces: Record<string, JsonObject> = {};
  for (const operation of operationsOf(type, plugin.name)) {
    const inputs = inputsOf(type, operation.name);
    const mapping = mappingOf(name, operation.name);
    interfaces[operation.interface] ??= {};
    interfaces[operation.interface]![operation.name] = {
      implementation: type.mappings?.[operation.name] ?? `${plugin.name}.${mapping}`,
      ...filled({ inputs: valuesOf(inputs, 'inputs', mapping) }),
    };
  }
  return {
    derived_from: type.derivedFrom ?? 'cloudify.nodes.Root',
    ...filled({
      properties: valuesOf(type.properties, 'properties', name),
      interfaces,
    }),
  };
}

function relationshipOf(
  plugin: PluginDefinition,
  name: string,
  type: RelationshipType,
  valuesOf: ValuesOf,
): JsonObject {
  const sides: Record<string, Record<string, JsonObject>> = {};
  for (const { side, name: operation } of sidesOf(type)) {
    const mapping = mappingOf(name, `${side}.${operation}`);
    const implementation = type.mappings?.[side]?.[operation] ?? `${plugin.name}.${mapping}`;
    const inputs = valuesOf(type.inputs?.[side]?.[operation], 'inputs', mapping);
    (sides[`${side}_interfaces`] ??= { 'cloudify.interfaces.relationship_lifecycle': {} })[
      'cloudify.interfaces.relationship_lifecycle'
    ]![operation] = { implementation, ...filled({ inputs }) };
  }
  return {
    derived_from: type.derivedFrom ?? 'cloudify.relationships.connected_to',
    ...filled({ properties: valuesOf(type.properties, 'properties', name) }),
    ...sides,
  };
}

/** Describes the members of an object; objects inside become data types with the name of their place. */
function schemaOf(
  schema: ObjectSchema,
  kind: Values,
  owner: string,
  dataTypes: Record<string, Json>,
): JsonObject {
  const entries = Object.entries(describeShape(schema, [owner])).map(([name, described]): [string, Json] => {
    // The language adds a key `type` to objects in typed inputs, so these stay untyped.
    if (kind === 'inputs' && (described.object !== undefined || described.type === 'dict'))
      return [name, entryOf(described, undefined, kind)];
    if (described.object === undefined) return [name, entryOf(described, described.type, kind)];
    const dataType = `${owner}.${name}`;
    dataTypes[dataType] = { properties: schemaOf(described.object, 'properties', dataType, dataTypes) };
    return [name, entryOf(described, dataType, kind)];
  });
  return Object.fromEntries(entries);
}

function entryOf(described: Described, type: string | undefined, kind: Values): JsonObject {
  const { description, isRequired, constraints } = described;
  // An input of an operation without any value is an error of the blueprint, also when it is not required.
  const byDefault = described.default ?? (kind === 'inputs' ? null : undefined);
  return {
    ...(type === undefined ? {} : { type }),
    ...textOf(description, kind === 'properties' ? constraints : []),
    ...(isRequired && kind !== 'inputs' ? {} : { required: false }),
    ...(byDefault === undefined ? {} : { default: byDefault }),
    ...(kind !== 'properties' && byDefault !== null && constraints.length > 0 ? { constraints } : {}),
  };
}

/** Properties have no constraints in the language: their valid values stand in the description. */
function textOf(description: string | undefined, constraints: Described['constraints']): JsonObject {
  const values = constraints.flatMap(({ valid_values: valid }) =>
    Array.isArray(valid) ? [valid.join(', ')] : [],
  );
  const text = [description, ...values.map((list) => `One of: ${list}.`)].filter(Boolean).join(' ');
  return text === '' ? {} : { description: text };
}

/** Leaves out what is empty. */
const filled = (parts: Record<string, Record<string, Json>>): JsonObject =>
  Object.fromEntries(Object.entries(parts).filter(([, part]) => Object.keys(part).length > 0));
