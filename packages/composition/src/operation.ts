import type { Json, JsonObject } from '@baton/kernel';
import { type OperationContext, type PluginOperation, resumable } from '@baton/plugin-sdk';
import { namedManager, ownManager } from './connect';
import type { CompositionDeps } from './deps';
import { failureOf } from './failures';
import type { Scope } from './scope';
import { objectSetting } from './settings';
import { save } from './state';

/** The work of one operation. It is called again after each wait, so it first checks which steps are done. */
export type Work = (scope: Scope) => Promise<Json>;

/** Makes an operation that may run many times. `func`: its name in error texts; null: no name. */
export function operationOf(func: string | null, run: PluginOperation): PluginOperation {
  return resumable(async (ctx, inputs) => {
    try {
      return await run(ctx, inputs);
    } catch (thrown) {
      throw failureOf(func, thrown);
    }
  });
}

/** Makes an operation of a node from its work. `func`: its name in error texts; null: no name. */
export function nodeOperation(deps: CompositionDeps, func: string | null, work: Work): PluginOperation {
  return operationOf(func, async (ctx, inputs) => {
    const scope = await nodeScope(deps, ctx, inputs);
    try {
      return await work(scope);
    } finally {
      await save(scope.instance);
    }
  });
}

async function nodeScope(
  deps: CompositionDeps,
  ctx: OperationContext,
  inputs: Readonly<Record<string, Json>>,
): Promise<Scope> {
  const instance = await ctx.instance();
  const { properties } = await ctx.node();
  return await scopeOf(deps, ctx, { inputs, instance, properties });
}

/** Makes a scope of an instance and the properties of its node. `settings`: other source of `client`, if any. */
export async function scopeOf(
  deps: CompositionDeps,
  ctx: OperationContext,
  sides: Pick<Scope, 'inputs' | 'instance' | 'properties'>,
  settings = sides,
): Promise<Scope> {
  const own = ownManager(deps, ctx);
  const client: JsonObject = objectSetting(settings, 'client');
  const manager = Object.keys(client).length === 0 ? own : await namedManager(deps, ctx, own, client);
  return { deps, ctx, ...sides, own, manager };
}
