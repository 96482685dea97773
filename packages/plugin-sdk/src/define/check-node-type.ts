import { DefinitionError } from '../schema/definition-error';
import type { Described } from '../schema/describe';
import {
  refuseInnerMarks,
  requireFunction,
  requireMapping,
  requireName,
  requireTypeName,
  schemaOf,
  shown,
  unknownName,
} from './check-parts';
import type { PluginDefinition } from './definition';
import { type AnyNodeType, LIFECYCLE_OPERATIONS } from './node-type';
import { DERIVED_OPERATIONS, derivedOf, operationsOf, ownMappings, workOf } from './operation-names';

const FUNCTIONS = [...LIFECYCLE_OPERATIONS, 'update', 'read', 'drift'] as const;
const NODE_TYPE_KEYS = new Set<string>([
  ...['derivedFrom', 'aliases', 'description', 'properties', 'runtime', 'compare', 'operations'],
  ...['resumable', 'inputs', 'mappings', ...FUNCTIONS],
]);
const INTERFACE = /^[A-Za-z_][A-Za-z0-9_.-]*$/;

/** @throws DefinitionError at the first mistake */
export function checkNodeType(plugin: PluginDefinition, type: AnyNodeType, path: readonly string[]): void {
  const at = (...keys: string[]): string[] => [...path, ...keys];
  for (const key of Object.keys(type))
    if (!NODE_TYPE_KEYS.has(key)) throw unknownName(at(key), key, NODE_TYPE_KEYS);
  if (type.derivedFrom !== undefined) requireTypeName(type.derivedFrom, at('derivedFrom'));
  const properties = schemaOf(type.properties, at('properties'));
  const runtime = schemaOf(type.runtime, at('runtime'));
  refuseInnerMarks(type.properties, at('properties'));
  refuseInnerMarks(type.runtime, at('runtime'));
  const kept = Object.keys(runtime).find((name) => runtime[name]!.isSensitive);
  // A type whose parent has `delete` removes the property in `stop`, and its secret goes with it.
  if (kept !== undefined && (type.delete ?? type.stop) === undefined)
    throw new DefinitionError(
      at('runtime', kept),
      'is kept in a secret, which nobody would remove',
      'an operation delete',
    );
  for (const key of FUNCTIONS) if (type[key] !== undefined) requireFunction(type[key], at(key));
  checkCompare(type, properties, at('compare'));
  const written = [...LIFECYCLE_OPERATIONS, 'update' as const].filter((name) => type[name] !== undefined);
  for (const [name, inputs] of Object.entries(type.inputs ?? {})) {
    if (!(written as string[]).includes(name)) throw unknownName(at('inputs', name), name, written);
    schemaOf(inputs, at('inputs', name));
    refuseInnerMarks(inputs, at('inputs', name));
  }
  checkFurther(type, at('operations'));
  const own = [...written, ...Object.keys(type.operations ?? {})];
  for (const name of type.resumable ?? [])
    if (!own.includes(name)) throw unknownName(at('resumable'), name, own);
  for (const name of Object.keys(runtime))
    if (name.startsWith('__baton'))
      throw new DefinitionError(at('runtime', name), 'the name belongs to Baton', 'another name');
  checkMappings(plugin, type, at('mappings'));
}

function checkCompare(
  type: AnyNodeType,
  properties: Record<string, Described>,
  path: readonly string[],
): void {
  if (type.compare !== undefined && type.read === undefined)
    throw new DefinitionError(path, 'there is nothing to compare with', 'a function read');
  if (type.compare !== undefined && type.drift !== undefined)
    throw new DefinitionError(path, 'drift finds the differences already', 'one of both');
  for (const name of type.compare ?? []) {
    if (!Object.hasOwn(properties, name)) throw unknownName(path, name, Object.keys(properties));
    if (properties[name]?.isSensitive)
      throw new DefinitionError(
        path,
        `${name} is sensitive, and a drift shows its value`,
        'other properties',
      );
  }
}

function checkFurther(type: AnyNodeType, path: readonly string[]): void {
  const lifecycle = [...LIFECYCLE_OPERATIONS, 'update' as const];
  // Without `read` nothing is derived: the author may write these operations.
  const derived = type.read === undefined ? [] : DERIVED_OPERATIONS;
  const all = new Set<string>([...lifecycle, ...derived]);
  // In an interface of its own an operation may have such a name, when the type itself has none of that name.
  const written = new Set<string>([
    ...lifecycle.filter((name) => type[name] !== undefined),
    ...derivedOf(type),
  ]);
  for (const [name, operation] of Object.entries(type.operations ?? {})) {
    const at = [...path, name];
    requireName(name, path);
    if ((operation.interface === undefined ? all : written).has(name))
      throw new DefinitionError(at, 'the name is taken by the lifecycle', 'another name');
    for (const { interface: place } of [operation, ...(operation.places ?? [])])
      if (place !== undefined && !INTERFACE.test(place))
        throw new DefinitionError([...at, 'interface'], shown(place), 'letters, digits, _, . and -');
    requireFunction(operation.run, [...at, 'run']);
    schemaOf(operation.inputs, [...at, 'inputs']);
    refuseInnerMarks(operation.inputs, [...at, 'inputs']);
  }
}

/** Operations that share a mapping must not differ: nobody could tell which one runs. */
function checkMappings(plugin: PluginDefinition, type: AnyNodeType, path: readonly string[]): void {
  const known = operationsOf(type, plugin.name).map(({ name }) => name);
  for (const [name, mapping] of Object.entries(type.mappings ?? {})) {
    if (!known.includes(name)) throw unknownName([...path, name], name, known);
    requireMapping(plugin, mapping, [...path, name]);
  }
  const own = ownMappings(type, plugin.name);
  for (const { name, mapping } of own)
    for (const other of own)
      if (mapping === other.mapping && workOf(type, name) !== workOf(type, other.name))
        throw new DefinitionError(
          [...path, name],
          `${other.name} has the same mapping, and is another function`,
          'another mapping',
        );
}
