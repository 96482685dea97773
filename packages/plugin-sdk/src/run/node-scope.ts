import type { Json } from '@baton/kernel';
import type { InstanceContext, OperationContext } from '../context';
import type { PluginDefinition } from '../define/definition';
import type { AnyNodeType } from '../define/node-type';
import type { NodeScope } from '../define/scope';
import { storeOf } from '../files/file-store';
import { instanceFiles } from '../files/instance-files';
import { managerStore } from '../files/manager-store';
import { describeShape, type ObjectSchema } from '../schema/describe';
import { parseValues } from '../schema/parse-values';
import { baseScope, managerOf } from './base-scope';
import type { Mask } from './mask';
import { replacedPartsOf } from './replaced-parts';
import { runtimeView } from './runtime-view';
import { managerSecrets } from './secret-store';
import { SensitiveRuntime } from './sensitive-runtime';

export type AnyNodeScope = NodeScope<ObjectSchema, ObjectSchema, Record<string, Json>>;

export interface OpenedScope {
  scope: AnyNodeScope;
  sensitive: SensitiveRuntime | null;
}

interface Call {
  plugin: PluginDefinition;
  type: AnyNodeType;
  ctx: OperationContext;
  inputs: Readonly<Record<string, Json>>;
  /** Schema of the inputs; undefined: they are passed as they are. */
  inputSchema?: ObjectSchema;
  /** Inputs that the schema does not name are passed as they are. */
  keepsInputs: boolean;
  /** Names of sensitive runtime properties. */
  sensitiveNames: readonly string[];
  mask: Mask;
}

/** Reads node and instance, and checks the values. @throws FatalError that names wrong properties or inputs */
export async function openNodeScope({
  plugin,
  type,
  ctx,
  inputs,
  inputSchema,
  keepsInputs,
  sensitiveNames,
  mask,
}: Call): Promise<OpenedScope> {
  const [node, instance] = [await ctx.node(), await ctx.instance()];
  const { executionToken, tenant } = ctx;
  hideSensitive(type.properties, node.properties, mask);
  hideSensitive(inputSchema, inputs, mask);
  const properties =
    type.properties === undefined ? {} : parseValues(type.properties, node.properties, 'properties');
  const checked = inputSchema === undefined ? inputs : parseValues(inputSchema, inputs, 'inputs');
  const given = keepsInputs ? { ...inputs, ...checked } : checked;
  hideSensitive(type.properties, properties, mask);
  const sensitive = await sensitiveOf(sensitiveNames, ctx, instance, mask);
  const scope: AnyNodeScope = {
    ...baseScope(ctx, plugin, mask, sensitive),
    instanceId: instance.id,
    properties,
    runtime: runtimeView(instance, sensitive) as AnyNodeScope['runtime'],
    inputs: given as Readonly<Record<string, Json>>,
    files: instanceFiles(
      () => storeOf(ctx) ?? managerStore(managerOf({ executionToken, tenant }), instance.id),
      ctx.signal,
    ),
  };
  return { scope, sensitive };
}

/** Null: the type has no sensitive runtime properties. */
async function sensitiveOf(
  names: readonly string[],
  ctx: OperationContext,
  instance: InstanceContext,
  mask: Mask,
): Promise<SensitiveRuntime | null> {
  if (names.length === 0) return null;
  const store = replacedPartsOf(ctx).secrets ?? managerSecrets(() => managerOf(ctx));
  const log = mask.logger(ctx.logger);
  const made = new SensitiveRuntime({ names, deployment: ctx.deployment.id, instance, store, mask, log });
  await made.load();
  return made;
}

/** Hides values from log lines before anything can fail with them. */
export function hideSensitive(
  schema: ObjectSchema | undefined,
  values: Readonly<Record<string, unknown>>,
  mask: Mask,
): void {
  for (const name of sensitiveIn(schema)) mask.add(values[name]);
}

/** Names of the sensitive members of a schema. */
export const sensitiveIn = (schema: ObjectSchema | undefined): string[] =>
  schema === undefined
    ? []
    : Object.entries(describeShape(schema, [])).flatMap(([name, { isSensitive }]) =>
        isSensitive ? [name] : [],
      );
