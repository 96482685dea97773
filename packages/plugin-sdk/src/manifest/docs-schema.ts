import type { Json, JsonObject } from '@baton/kernel';
import type { PluginDefinition } from '../define/definition';
import { inputsOf, operationsOf } from '../define/operation-names';
import { sidesOf } from '../run/operations';
import type { ObjectSchema } from '../schema/describe';

/** Turns a schema of zod into JSON Schema: `z.toJSONSchema` of the author's zod. */
export type ToJsonSchema = (schema: never, options: { io: 'input'; unrepresentable: 'any' }) => unknown;

/**
 * One JSON Schema with a definition for the properties of each type (by its name), for its runtime properties (`<type>.runtime`), and for
 * the inputs of each operation (`<type>.<operation>.inputs`).
 */
export function docsSchema(plugin: PluginDefinition, toJsonSchema: ToJsonSchema): JsonObject {
  const definitions: Record<string, Json> = {};
  const add = (name: string, schema: ObjectSchema | undefined): void => {
    if (schema === undefined) return;
    const made = toJsonSchema(schema as never, { io: 'input', unrepresentable: 'any' });
    const { $schema: _, ...own } = JSON.parse(JSON.stringify(made)) as JsonObject;
    definitions[name] = withoutMarks(own);
  };
  for (const [name, type] of Object.entries(plugin.types)) {
    add(name, type.properties);
    add(`${name}.runtime`, type.runtime);
    for (const { name: operation } of operationsOf(type, plugin.name))
      add(`${name}.${operation}.inputs`, inputsOf(type, operation));
  }
  for (const [name, type] of Object.entries(plugin.relationships ?? {})) {
    add(name, type.properties);
    for (const { side, name: operation } of sidesOf(type))
      add(`${name}.${side}.${operation}.inputs`, type.inputs?.[side]?.[operation]);
  }
  for (const [mapping, operation] of Object.entries(plugin.operations ?? {}))
    if (typeof operation !== 'function') add(`${mapping}.inputs`, operation.inputs);
  for (const [name, { parameters }] of Object.entries(plugin.workflows ?? {}))
    add(`${name}.parameters`, parameters);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: `${plugin.name} ${plugin.version}`,
    $defs: definitions,
  };
}

/** Marks of the SDK in their standard form: sensitive values are write-only. */
function withoutMarks(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutMarks);
  if (typeof value !== 'object' || value === null) return value;
  const { batonSensitive, batonDefaultFrom: _, ...rest } = value;
  const own = Object.fromEntries(Object.entries(rest).map(([name, inner]) => [name, withoutMarks(inner)]));
  return batonSensitive === true ? { ...own, writeOnly: true } : own;
}
