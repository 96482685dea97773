import type { Json } from '@baton/kernel';
import type { OperationContext, PluginOperation } from '../context';
import type { PluginDefinition } from '../define/definition';
import type { AnyNodeType } from '../define/node-type';
import { type DerivedOperation, derivedOf, mappingOf, operationsOf } from '../define/operation-names';
import { RELATIONSHIP_OPERATIONS, type RelationshipType } from '../define/relationship-type';
import { resumable } from '../resumable';
import { DefinitionError } from '../schema/definition-error';
import type { ObjectSchema } from '../schema/describe';
import { baseScope } from './base-scope';
import { DERIVED, runUpdate } from './derived';
import { Mask } from './mask';
import { type AnyNodeScope, openNodeScope } from './node-scope';

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
  for (const [typeName, type] of Object.entries(plugin.types))
    for (const { name } of operationsOf(type, plugin.name))
      add(mappingOf(typeName, name), nodeOperation(plugin, type, name));
  for (const [typeName, type] of Object.entries(plugin.relationships ?? {})) {
    for (const { side, name } of sidesOf(type))
      add(mappingOf(typeName, `${side}.${name}`), relationshipOperation(plugin, type, side, name));
  }
  for (const [mapping, operation] of Object.entries(plugin.operations ?? {})) add(mapping, operation);
  return operations;
}

/** The operations of a relationship type that its author wrote. */
export function sidesOf(
  type: RelationshipType,
): { side: 'source' | 'target'; name: (typeof RELATIONSHIP_OPERATIONS)[number] }[] {
  return (['source', 'target'] as const).flatMap((side) =>
    RELATIONSHIP_OPERATIONS.filter((name) => type[side]?.[name] !== undefined).map((name) => ({
      side,
      name,
    })),
  );
}

/** Operations of the lifecycle, derived ones and further ones have the same frame: values, masks, errors. */
function nodeOperation(plugin: PluginDefinition, type: AnyNodeType, name: string): PluginOperation {
  const inputSchema = type.operations?.[name]?.inputs as ObjectSchema | undefined;
  const operation: PluginOperation = async (ctx, inputs) =>
    await masked(async (mask) => {
      const { scope } = await openNodeScope({ plugin, type, ctx, inputs, inputSchema, mask });
      return await workOf(type, name, scope);
    });
  const onlyReads = name !== 'heal' && (derivedOf(type) as string[]).includes(name);
  return onlyReads || (type.resumable as readonly string[] | undefined)?.includes(name)
    ? resumable(operation)
    : operation;
}

async function workOf(type: AnyNodeType, name: string, scope: AnyNodeScope): Promise<unknown> {
  if (Object.hasOwn(type.operations ?? {}, name)) return await type.operations![name]!.run(scope as never);
  if (Object.hasOwn(DERIVED, name)) return await DERIVED[name as DerivedOperation](type, scope);
  if (name === 'update') return await runUpdate(type, scope);
  return await type[name as 'create']!(scope);
}

function relationshipOperation(
  plugin: PluginDefinition,
  type: RelationshipType,
  side: 'source' | 'target',
  name: (typeof RELATIONSHIP_OPERATIONS)[number],
): PluginOperation {
  return async (ctx: OperationContext, inputs: Readonly<Record<string, Json>>) =>
    await masked(async (mask) => await type[side]![name]!({ ...baseScope(ctx, plugin, mask), inputs }));
}

/** Runs `work`; what it throws is masked. A null result stands for none: results are JSON. */
async function masked(work: (mask: Mask) => Promise<unknown>): Promise<unknown> {
  const mask = new Mask();
  try {
    return (await work(mask)) ?? null;
  } catch (thrown) {
    throw mask.thrown(thrown);
  }
}
