import type { Json } from '@baton/kernel';
import type { OperationContext, PluginOperation } from '../context';
import type { PluginDefinition } from '../define/definition';
import type { DirectOperation } from '../define/direct-operation';
import { mappingOf, operationsOf, ownMappings, withoutPlugin } from '../define/operation-names';
import {
  RELATIONSHIP_OPERATIONS,
  type RelationshipOperation,
  type RelationshipType,
} from '../define/relationship-type';
import { resumable } from '../resumable';
import { DefinitionError } from '../schema/definition-error';
import { parseValues } from '../schema/parse-values';
import { baseScope } from './base-scope';
import { openDirectScope } from './direct-scope';
import { masked } from './mask';
import { nodeOperation } from './node-operation';
import { hideSensitive } from './node-scope';
import { byContext, type Candidate, sharedOperation } from './shared-operation';

/** All operations of a definition, by mapping. @throws DefinitionError when two have the same mapping */
export function operationsFrom(plugin: PluginDefinition): Record<string, PluginOperation> {
  const operations: Record<string, PluginOperation> = {};
  const add = (mapping: string, operation: PluginOperation): void => {
    if (Object.hasOwn(operations, mapping))
      throw new DefinitionError(
        ['plugin', 'operations'],
        `the mapping ${mapping} is there twice`,
        'another mapping',
      );
    operations[mapping] = operation;
  };
  const shared = new Map<string, Candidate[]>();
  for (const [typeName, type] of Object.entries(plugin.types)) {
    const made = new Map(
      operationsOf(type, plugin.name).map(({ name }) => [name, nodeOperation(plugin, type, name)]),
    );
    for (const [name, operation] of made) add(mappingOf(typeName, name), operation);
    for (const { name, mapping } of ownMappings(type, plugin.name)) {
      const candidate = { names: [typeName, ...(type.aliases ?? [])], name, operation: made.get(name)! };
      shared.set(mapping, [...(shared.get(mapping) ?? []), candidate]);
    }
  }
  const direct = plugin.operations ?? {};
  // An operation that blueprints name directly serves all who name its mapping.
  for (const [mapping, candidates] of shared)
    if (!Object.hasOwn(direct, mapping)) add(mapping, sharedOperation(candidates));
  const addOfRelationship = (mapping: string, operation: PluginOperation): void => {
    if (!shared.has(mapping) || Object.hasOwn(direct, mapping)) return add(mapping, operation);
    operations[mapping] = byContext(operations[mapping]!, operation);
    shared.delete(mapping);
  };
  for (const [typeName, type] of Object.entries(plugin.relationships ?? {}))
    addRelationship(plugin, typeName, type, addOfRelationship);
  for (const [mapping, operation] of Object.entries(direct))
    add(mapping, typeof operation === 'function' ? operation : directOperation(plugin, operation));
  return operations;
}

/** The operations of a relationship type that its author wrote. */
export function sidesOf(
  type: RelationshipType,
): { side: 'source' | 'target'; name: RelationshipOperation }[] {
  return (['source', 'target'] as const).flatMap((side) =>
    RELATIONSHIP_OPERATIONS.filter((name) => type[side]?.[name] !== undefined).map((name) => ({
      side,
      name,
    })),
  );
}

/** Types of relationships may share a mapping when they share the function. */
function addRelationship(
  plugin: PluginDefinition,
  typeName: string,
  type: RelationshipType,
  add: (mapping: string, operation: PluginOperation) => void,
): void {
  const own = new Set<string>();
  for (const { side, name } of sidesOf(type)) {
    const operation = relationshipOperation(plugin, type, side, name);
    add(mappingOf(typeName, `${side}.${name}`), operation);
    const mapping = type.mappings?.[side]?.[name];
    if (mapping === undefined || own.has(mapping)) continue;
    own.add(mapping);
    if (!Object.hasOwn(plugin.operations ?? {}, withoutPlugin(mapping)))
      add(withoutPlugin(mapping), operation);
  }
}

function relationshipOperation(
  plugin: PluginDefinition,
  type: RelationshipType,
  side: 'source' | 'target',
  name: RelationshipOperation,
): PluginOperation {
  const schema = type.inputs?.[side]?.[name];
  const operation = async (ctx: OperationContext, inputs: Readonly<Record<string, Json>>): Promise<unknown> =>
    await masked(ctx, async (mask) => {
      hideSensitive(schema, inputs, mask);
      const checked = schema === undefined ? {} : parseValues(schema, inputs, 'inputs');
      const given = { ...inputs, ...checked } as Record<string, Json>;
      return await type[side]![name]!({ ...baseScope(ctx, plugin, mask), inputs: given });
    });
  return type.resumable?.includes(`${side}.${name}`) ? resumable(operation) : operation;
}

function directOperation(
  plugin: PluginDefinition,
  { inputs: schema, isResumable: may, run }: DirectOperation,
): PluginOperation {
  const operation: PluginOperation = async (ctx, inputs) =>
    await masked(
      ctx,
      async (mask) => await run((await openDirectScope(plugin, ctx, inputs, schema, mask)) as never),
    );
  return may ? resumable(operation) : operation;
}
