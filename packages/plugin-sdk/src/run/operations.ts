import type { Json } from '@baton/kernel';
import type { OperationContext, PluginOperation } from '../context';
import type { PluginDefinition } from '../define/definition';
import type { MappedOperation } from '../define/mapped-operation';
import type { AnyNodeType, DerivedOperation } from '../define/node-type';
import {
  derivedOf,
  inputsOf,
  mappingOf,
  operationsOf,
  ownMappings,
  withoutPlugin,
} from '../define/operation-names';
import { RELATIONSHIP_OPERATIONS, type RelationshipType } from '../define/relationship-type';
import { resumable } from '../resumable';
import { DefinitionError } from '../schema/definition-error';
import type { ObjectSchema } from '../schema/describe';
import { parseValues } from '../schema/parse-values';
import { baseScope } from './base-scope';
import { DERIVED, runUpdate } from './derived';
import { Mask } from './mask';
import { type AnyNodeScope, hideSensitive, openNodeScope } from './node-scope';

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
  for (const type of Object.values(plugin.types)) {
    // Operations that share a mapping are one function: the first one stands for all.
    const own = new Map(
      ownMappings(type)
        .reverse()
        .map(({ name, mapping }) => [mapping, name]),
    );
    for (const [mapping, name] of own)
      if (!isServed(plugin, mapping)) add(mapping, nodeOperation(plugin, type, name));
  }
  for (const [typeName, type] of Object.entries(plugin.relationships ?? {})) {
    for (const { side, name } of sidesOf(type)) {
      const operation = relationshipOperation(plugin, type, side, name);
      add(mappingOf(typeName, `${side}.${name}`), operation);
      const known = type.mappings?.[`${side}.${name}`];
      if (known !== undefined && !isServed(plugin, withoutPlugin(known)))
        add(withoutPlugin(known), operation);
    }
  }
  for (const [mapping, operation] of Object.entries(plugin.operations ?? {}))
    add(mapping, typeof operation === 'function' ? operation : mappedOperation(plugin, operation));
  return operations;
}

/** Whether an operation of the plugin itself has this mapping: it stands for all types that name the mapping. */
const isServed = ({ operations = {} }: PluginDefinition, mapping: string): boolean =>
  Object.hasOwn(operations, mapping);

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
  const inputSchema = inputsOf(type, name);
  const keepsInputs = !Object.hasOwn(type.operations ?? {}, name);
  const operation: PluginOperation = async (ctx, inputs) =>
    await masked(async (mask) => {
      const { scope } = await openNodeScope({ plugin, type, ctx, inputs, inputSchema, keepsInputs, mask });
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
  const inputs = type.inputs?.[`${side}.${name}`];
  return mappedOperation(plugin, { inputs, run: (scope) => type[side]![name]!(scope) });
}

function mappedOperation(plugin: PluginDefinition, { inputs, resumable: isMarked, run }: MappedOperation) {
  const operation: PluginOperation = async (ctx: OperationContext, given: Readonly<Record<string, Json>>) =>
    await masked(
      async (mask) =>
        await run({ ...baseScope(ctx, plugin, mask), inputs: checkedInputs(inputs, given, mask) }),
    );
  return isMarked ? resumable(operation) : operation;
}

function checkedInputs(
  schema: ObjectSchema | undefined,
  given: Readonly<Record<string, Json>>,
  mask: Mask,
): Readonly<Record<string, Json>> {
  if (schema === undefined) return given;
  hideSensitive(schema, given, mask);
  return { ...given, ...(parseValues(schema, given, 'inputs') as Record<string, Json>) };
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
