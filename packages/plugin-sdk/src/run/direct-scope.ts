import type { Json } from '@baton/kernel';
import type { OperationContext } from '../context';
import type { PluginDefinition } from '../define/definition';
import type { DirectNode, DirectScope } from '../define/direct-operation';
import type { ObjectSchema } from '../schema/describe';
import { parseValues } from '../schema/parse-values';
import { baseScope } from './base-scope';
import type { Mask } from './mask';
import { hideSensitive } from './node-scope';
import { runtimeView } from './runtime-view';

/** Makes what an operation gets that a blueprint names directly. @throws FatalError that names wrong inputs */
export async function openDirectScope(
  plugin: PluginDefinition,
  ctx: OperationContext,
  inputs: Readonly<Record<string, Json>>,
  schema: ObjectSchema | undefined,
  mask: Mask,
): Promise<DirectScope> {
  hideSensitive(schema, inputs, mask);
  const checked = schema === undefined ? {} : parseValues(schema, inputs, 'inputs');
  const node = ctx.type === 'node-instance' ? await nodeOf(ctx) : null;
  return { ...baseScope(ctx, plugin, mask), inputs: { ...inputs, ...checked } as Record<string, Json>, node };
}

async function nodeOf(ctx: OperationContext): Promise<DirectNode> {
  const [node, instance] = [await ctx.node(), await ctx.instance()];
  return { instanceId: instance.id, properties: node.properties, runtime: runtimeView(instance, null) };
}
