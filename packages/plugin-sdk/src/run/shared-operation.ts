import type { OperationContext, PluginOperation } from '../context';
import { isResumable, resumable } from '../resumable';

/** An operation among those that share a mapping. */
export interface Candidate {
  /** Names of its type. */
  names: readonly string[];
  /** Its name in the type. */
  name: string;
  operation: PluginOperation;
}

/**
 * One operation for a mapping that several share: it runs that of the node's type, with the name that the blueprint has called. A node
 * of another type, or another name, gets the first one. It is resumable when all are.
 */
export function sharedOperation(candidates: readonly Candidate[]): PluginOperation {
  if (candidates.length === 1) return candidates[0]!.operation;
  const operation: PluginOperation = async (ctx, inputs) =>
    await (await chosen(candidates, ctx)).operation(ctx, inputs);
  return candidates.every((one) => isResumable(one.operation)) ? resumable(operation) : operation;
}

/** One operation for a mapping that a node type and a relationship type share. It is resumable when both are. */
export function byContext(ofNode: PluginOperation, ofRelationship: PluginOperation): PluginOperation {
  const operation: PluginOperation = (ctx, inputs) =>
    (ctx.type === 'relationship-instance' ? ofRelationship : ofNode)(ctx, inputs);
  return isResumable(ofNode) && isResumable(ofRelationship) ? resumable(operation) : operation;
}

async function chosen(candidates: readonly Candidate[], ctx: OperationContext): Promise<Candidate> {
  const called = ctx.operation.name.split('.').at(-1);
  const types = ctx.type === 'node-instance' ? [...(await ctx.node()).typeHierarchy].reverse() : [];
  const nearest = types.find((type) => candidates.some(({ names }) => names.includes(type)));
  const ofType = candidates.filter(({ names }) => nearest === undefined || names.includes(nearest));
  return ofType.find(({ name }) => name === called) ?? ofType[0]!;
}
