import type { OperationContext, PluginOperation } from '../context';
import type { PluginDefinition } from '../define/definition';
import type { AnyNodeType } from '../define/node-type';
import { type DerivedOperation, derivedOf, inputsOf } from '../define/operation-names';
import { resumable } from '../resumable';
import { DERIVED, runUpdate } from './derived';
import { masked } from './mask';
import { type AnyNodeScope, openNodeScope, sensitiveIn } from './node-scope';
import type { SensitiveRuntime } from './sensitive-runtime';

/** Operations of the lifecycle, derived ones and further ones have the same frame: values, masks, errors. */
export function nodeOperation(plugin: PluginDefinition, type: AnyNodeType, name: string): PluginOperation {
  const inputSchema = inputsOf(type, name);
  const keepsInputs = !Object.hasOwn(type.operations ?? {}, name);
  const sensitiveNames = sensitiveIn(type.runtime);
  const operation: PluginOperation = async (ctx, inputs) =>
    await masked(ctx, async (mask) => {
      const call = { plugin, type, ctx, inputs, inputSchema, keepsInputs, sensitiveNames, mask };
      const { scope, sensitive } = await openNodeScope(call);
      if (sensitive === null) return await run(type, name, scope);
      return await saved(sensitive, name === lastOperation(type), ctx, () => run(type, name, scope));
    });
  const onlyReads = name !== 'heal' && (derivedOf(type) as string[]).includes(name);
  return onlyReads || (type.resumable as readonly string[] | undefined)?.includes(name)
    ? resumable(operation)
    : operation;
}

/** Runs `work`, and keeps sensitive runtime properties in secrets, also when it fails. Nothing is kept of a stopped operation. */
async function saved(
  sensitive: SensitiveRuntime,
  isLast: boolean,
  { signal }: OperationContext,
  work: () => Promise<unknown>,
): Promise<unknown> {
  let result: unknown;
  try {
    result = await work();
  } catch (thrown) {
    // The first failure is the one that people must see.
    if (!signal.aborted) await sensitive.save().catch(() => undefined);
    throw thrown;
  }
  if (signal.aborted) return result;
  await (isLast ? sensitive.clear() : sensitive.save());
  return result;
}

const lastOperation = (type: AnyNodeType): string =>
  type.postdelete === undefined ? 'delete' : 'postdelete';

async function run(type: AnyNodeType, name: string, scope: AnyNodeScope): Promise<unknown> {
  if (Object.hasOwn(type.operations ?? {}, name)) return await type.operations![name]!.run(scope as never);
  if (Object.hasOwn(DERIVED, name)) return await DERIVED[name as DerivedOperation](type, scope);
  if (name === 'update') return await runUpdate(type, scope);
  return await type[name as 'create']!(scope);
}
