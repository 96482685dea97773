import type { InstanceContext, NodeContext, OperationContext, SideContext } from '@baton/plugin-sdk';

/** Where an operation runs: the node itself, or the source of a relationship with its target. */
export interface Place {
  node: NodeContext;
  instance: InstanceContext;
  /** Null: the operation is one of a node. */
  target: SideContext | null;
}

export async function placeOf(ctx: OperationContext): Promise<Place> {
  if (ctx.type === 'relationship-instance') {
    const [source, target] = [await ctx.source(), await ctx.target()];
    return { node: source.node, instance: source.instance, target };
  }
  return { node: await ctx.node(), instance: await ctx.instance(), target: null };
}

/** Sets runtime properties; they are stored when the operation ends, also when it fails. */
export function keep(instance: InstanceContext, values: Readonly<Record<string, unknown>>): void {
  instance.runtimeProperties = {
    ...instance.runtimeProperties,
    ...(values as InstanceContext['runtimeProperties']),
  };
}
