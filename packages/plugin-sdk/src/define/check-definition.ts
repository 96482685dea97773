import { nearestName } from '@baton/kernel';
import { DefinitionError } from '../schema/definition-error';
import { type Described, describeShape, type ObjectSchema } from '../schema/describe';
import type { PluginDefinition } from './definition';
import { type AnyNodeType, LIFECYCLE_OPERATIONS } from './node-type';
import { DERIVED_OPERATIONS, ownMappings } from './operation-names';
import { RELATIONSHIP_OPERATIONS, type RelationshipType } from './relationship-type';

const NAME = /^[A-Za-z][A-Za-z0-9_-]*$/;
const TYPE_NAME = /^[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*)+$/;
const VERSION = /^\d+\.\d+\.\d+(?:[-+][A-Za-z0-9_.+-]{1,64})?$/;
/** Longest name; names become names of files. */
const MAX_NAME = 100;

const NODE_TYPE_KEYS = new Set([
  ...['derivedFrom', 'aliases', 'description', 'properties', 'runtime', 'read', 'compare', 'operations'],
  ...['resumable', 'inputs', 'mappings', 'update', ...LIFECYCLE_OPERATIONS],
]);
const WORKFLOW_KEYS = new Set(['run', 'parameters', 'mapping', 'isResumable']);
const FUNCTIONS = [...LIFECYCLE_OPERATIONS, 'update', 'read'] as const;

/** @throws DefinitionError at the first mistake: what, where (dotted path), what was expected */
export function checkDefinition(plugin: PluginDefinition): void {
  const path = ['plugin'];
  if (!NAME.test(plugin.name) || plugin.name.length > MAX_NAME)
    throw new DefinitionError(
      [...path, 'name'],
      shown(plugin.name),
      `at most ${MAX_NAME} letters, digits, _ and -`,
    );
  if (typeof plugin.version !== 'string' || !VERSION.test(plugin.version) || plugin.version.length > MAX_NAME)
    throw new DefinitionError([...path, 'version'], shown(plugin.version), 'a version such as 1.2.0');
  for (const alias of plugin.aliases ?? []) requireName(alias, [...path, 'aliases']);
  for (const secret of plugin.secrets ?? [])
    if (typeof secret !== 'string' || secret === '')
      throw new DefinitionError([...path, 'secrets'], shown(secret), 'names of secrets');
  const names = new Set<string>();
  const claim = (name: string, at: readonly string[]): void => {
    requireTypeName(name, at);
    if (names.has(name)) throw new DefinitionError(at, `the type ${name} is declared twice`, 'another name');
    names.add(name);
  };
  for (const [name, type] of Object.entries(plugin.types)) {
    const at = [...path, 'types', name];
    claim(name, at);
    for (const alias of type.aliases ?? []) claim(alias, [...at, 'aliases']);
    checkNodeType(type, at);
    checkMappings(plugin, type, at);
  }
  for (const [name, type] of Object.entries(plugin.relationships ?? {})) {
    const at = [...path, 'relationships', name];
    claim(name, at);
    for (const alias of type.aliases ?? []) claim(alias, [...at, 'aliases']);
    checkRelationshipType(type, at);
  }
  for (const [name, workflow] of Object.entries(plugin.workflows ?? {})) {
    const at = [...path, 'workflows', name];
    requireName(name, at);
    requireFunction(workflow.run, [...at, 'run']);
    for (const key of Object.keys(workflow))
      if (!WORKFLOW_KEYS.has(key)) throw unknownName([...at, key], key, WORKFLOW_KEYS);
    schemaOf(workflow.parameters, [...at, 'parameters']);
    if (workflow.mapping !== undefined) requireMapping(plugin, workflow.mapping, [...at, 'mapping']);
  }
}

function checkNodeType(type: AnyNodeType, path: readonly string[]): void {
  const at = (key: string): string[] => [...path, key];
  for (const key of Object.keys(type))
    if (!NODE_TYPE_KEYS.has(key)) throw unknownName(at(key), key, NODE_TYPE_KEYS);
  if (type.derivedFrom !== undefined) requireTypeName(type.derivedFrom, at('derivedFrom'));
  const properties = schemaOf(type.properties, at('properties'));
  const runtime = schemaOf(type.runtime, at('runtime'));
  refuseInnerMarks(type.properties, at('properties'));
  refuseInnerMarks(type.runtime, at('runtime'));
  for (const key of FUNCTIONS) if (type[key] !== undefined) requireFunction(type[key], at(key));
  for (const name of type.compare ?? [])
    if (!Object.hasOwn(properties, name)) throw unknownName(at('compare'), name, Object.keys(properties));
  if (type.compare !== undefined && type.read === undefined)
    throw new DefinitionError(at('compare'), 'there is nothing to compare with', 'a function read');
  for (const name of type.compare ?? [])
    if (properties[name]?.isSensitive)
      throw new DefinitionError(
        at('compare'),
        `${name} is sensitive, and a drift shows its value`,
        'other properties',
      );
  for (const [name, inputs] of Object.entries(type.inputs ?? {})) {
    requireLifecycle(type, name, [...at('inputs'), name]);
    schemaOf(inputs, [...at('inputs'), name]);
    refuseInnerMarks(inputs, [...at('inputs'), name]);
  }
  const taken = new Set<string>([...LIFECYCLE_OPERATIONS, 'update', ...DERIVED_OPERATIONS]);
  for (const [name, operation] of Object.entries(type.operations ?? {})) {
    requireName(name, at('operations'));
    if (taken.has(name))
      throw new DefinitionError(
        [...at('operations'), name],
        'the name is taken by the lifecycle',
        'another name',
      );
    requireFunction(operation.run, [...at('operations'), name, 'run']);
    schemaOf(operation.inputs, [...at('operations'), name, 'inputs']);
    refuseInnerMarks(operation.inputs, [...at('operations'), name, 'inputs']);
  }
  const own = [...LIFECYCLE_OPERATIONS, 'update', ...Object.keys(type.operations ?? {})];
  const written = own.filter((name) => name in type || Object.hasOwn(type.operations ?? {}, name));
  for (const name of type.resumable ?? [])
    if (!written.includes(name)) throw unknownName(at('resumable'), name, written);
  for (const name of Object.keys(runtime))
    if (name.startsWith('__baton'))
      throw new DefinitionError([...at('runtime'), name], 'the name belongs to Baton', 'another name');
}

/** A mapping begins with a name of the plugin. Operations that share one must not differ: nobody could tell which one runs. */
function checkMappings(plugin: PluginDefinition, type: AnyNodeType, path: readonly string[]): void {
  for (const [name, mapping] of Object.entries(type.mappings ?? {})) {
    const at = [...path, 'mappings', name];
    requireLifecycle(type, name, at);
    requireMapping(plugin, mapping, at);
  }
  for (const { name, mapping } of ownMappings(type))
    for (const other of ownMappings(type))
      if (mapping === other.mapping && type[name] !== type[other.name])
        throw new DefinitionError(
          [...path, 'mappings', name],
          `${other.name} has the same mapping, and is another function`,
          'another mapping',
        );
}

function requireMapping(
  { name, aliases = [] }: PluginDefinition,
  mapping: string,
  at: readonly string[],
): void {
  const names = [name, ...aliases];
  if (typeof mapping !== 'string' || !TYPE_NAME.test(mapping) || !names.includes(mapping.split('.')[0]!))
    throw new DefinitionError(at, shown(mapping), `a mapping after one of ${names.join(', ')} and a dot`);
}

function requireLifecycle(type: AnyNodeType, name: string, path: readonly string[]): void {
  const written = LIFECYCLE_OPERATIONS.filter((known) => type[known] !== undefined);
  if (!(written as string[]).includes(name)) throw unknownName(path, name, written);
}

function checkRelationshipType(type: RelationshipType, path: readonly string[]): void {
  if (type.derivedFrom !== undefined) requireTypeName(type.derivedFrom, [...path, 'derivedFrom']);
  schemaOf(type.properties, [...path, 'properties']);
  for (const side of ['source', 'target'] as const)
    for (const [name, work] of Object.entries(type[side] ?? {})) {
      if (!(RELATIONSHIP_OPERATIONS as readonly string[]).includes(name))
        throw unknownName([...path, side], name, RELATIONSHIP_OPERATIONS);
      requireFunction(work, [...path, side, name]);
    }
}

/** Describes a schema, and so checks it. */
function schemaOf(schema: ObjectSchema | undefined, path: readonly string[]): Record<string, Described> {
  if (schema === undefined) return {};
  if (typeof schema !== 'object' || typeof schema.shape !== 'object')
    throw new DefinitionError(path, 'is no schema of an object', 'z.object({...})');
  return describeShape(schema, path);
}

/** A mark inside of an object would be overlooked: the whole value is masked or refused by its own mark. */
function refuseInnerMarks(schema: ObjectSchema | undefined, path: readonly string[]): void {
  if (schema === undefined) return;
  for (const [name, described] of Object.entries(describeShape(schema, path))) {
    if (described.object === undefined || described.isSensitive) continue;
    for (const [inner, part] of Object.entries(describeShape(described.object, [...path, name])))
      if (part.isSensitive)
        throw new DefinitionError(
          [...path, name, inner],
          'sensitive() stands inside of an object',
          `sensitive() around ${name}`,
        );
    refuseInnerMarks(described.object, [...path, name]);
  }
}

function requireTypeName(name: string, path: readonly string[]): void {
  if (typeof name !== 'string' || !TYPE_NAME.test(name) || name.length > 2 * MAX_NAME)
    throw new DefinitionError(
      path,
      `${shown(name)} is no name of a type`,
      'names with dots between, such as dns.nodes.Record',
    );
}

function requireName(name: string, path: readonly string[]): void {
  if (!NAME.test(name) || name.length > MAX_NAME)
    throw new DefinitionError(path, `${shown(name)} is no name`, 'letters, digits, _ and -');
}

function requireFunction(value: unknown, path: readonly string[]): void {
  if (typeof value !== 'function') throw new DefinitionError(path, 'is no function', 'a function');
}

function unknownName(path: readonly string[], name: string, valid: Iterable<string>): DefinitionError {
  const known = [...valid];
  const nearest = nearestName(name, known);
  const hint = nearest === null ? '' : `; did you mean ${nearest}?`;
  return new DefinitionError(path, `there is no ${name}`, `${known.join(', ') || 'nothing here'}${hint}`);
}

const shown = (value: unknown): string => (JSON.stringify(value) ?? String(value)).slice(0, MAX_NAME);
