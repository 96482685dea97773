import type { PluginOperation } from '../context';
import type { PluginDefinition } from '../define/definition';
import type { AnyNodeType } from '../define/node-type';
import { type DerivedOperation, derivedOf, inputsOf } from '../define/operation-names';
import { resumable } from '../resumable';
import { DERIVED, runUpdate } from './derived';
import { masked } from './mask';
import { type AnyNodeScope, openNodeScope } from './node-scope';

/** Operations of the lifecycle, derived ones and further ones have the same frame: values, masks, errors. */
export function nodeOperation(plugin: PluginDefinition, type: AnyNodeType, name: string): PluginOperation {
  const inputSchema = inputsOf(type, name);
  const keepsInputs = !Object.hasOwn(type.operations ?? {}, name);
  const operation: PluginOperation = async (ctx, inputs) =>
    await masked(async (mask) => {
      const { scope } = await openNodeScope({ plugin, type, ctx, inputs, inputSchema, keepsInputs, mask });
      return await run(type, name, scope);
    });
  const onlyReads = name !== 'heal' && (derivedOf(type) as string[]).includes(name);
  return onlyReads || (type.resumable as readonly string[] | undefined)?.includes(name)
    ? resumable(operation)
    : operation;
}

async function run(type: AnyNodeType, name: string, scope: AnyNodeScope): Promise<unknown> {
  if (Object.hasOwn(type.operations ?? {}, name)) return await type.operations![name]!.run(scope as never);
  if (Object.hasOwn(DERIVED, name)) return await DERIVED[name as DerivedOperation](type, scope);
  if (name === 'update') return await runUpdate(type, scope);
  return await type[name as 'create']!(scope);
}
