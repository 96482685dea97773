import type { Json } from '@baton/kernel';
import type { InstanceContext, OperationContext } from '../context';
import type { PluginDefinition } from '../define/definition';
import type { AnyNodeType } from '../define/node-type';
import type { NodeScope } from '../define/scope';
import { describeShape, type ObjectSchema } from '../schema/describe';
import { parseValues } from '../schema/parse-values';
import { baseScope } from './base-scope';
import type { Mask } from './mask';
import { runtimeView } from './runtime-view';

export type AnyNodeScope = NodeScope<ObjectSchema, ObjectSchema, Record<string, Json>>;

export interface OpenedScope {
  scope: AnyNodeScope;
  instance: InstanceContext;
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
  mask,
}: Call): Promise<OpenedScope> {
  const [node, instance] = [await ctx.node(), await ctx.instance()];
  hideSensitive(type.properties, node.properties, mask);
  hideSensitive(inputSchema, inputs, mask);
  const properties =
    type.properties === undefined ? {} : parseValues(type.properties, node.properties, 'properties');
  const checked = inputSchema === undefined ? inputs : parseValues(inputSchema, inputs, 'inputs');
  const given = keepsInputs ? { ...inputs, ...checked } : checked;
  hideSensitive(type.properties, properties, mask);
  const scope: AnyNodeScope = {
    ...baseScope(ctx, plugin, mask),
    instanceId: instance.id,
    properties,
    runtime: runtimeView(instance, type.runtime) as AnyNodeScope['runtime'],
    inputs: given as Readonly<Record<string, Json>>,
  };
  return { scope, instance };
}

/** Hides values from log lines before anything can fail with them. */
export function hideSensitive(
  schema: ObjectSchema | undefined,
  values: Readonly<Record<string, unknown>>,
  mask: Mask,
): void {
  if (schema === undefined) return;
  for (const [name, described] of Object.entries(describeShape(schema, [])))
    if (described.isSensitive) mask.add(values[name]);
}
