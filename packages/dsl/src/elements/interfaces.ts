import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import { joinPath } from '../schema/check-shape';
import { type Entry, entriesOf, type Node, setOwn, toJson } from '../yaml/node';
import type { DataTypes } from './data-types';
import { type ElementContext, spend } from './element-context';
import {
  isTemplateNoop,
  isTypeNoop,
  type MergedOperation,
  operationJson,
  parseTemplateOperation,
  parseTypeOperation,
  type TemplateOperation,
  type TypeOperation,
  typeOperationJson,
} from './operation';
import { jsonOf } from './properties';
import type { PropertySchemas } from './property-schema';

/** interface -> operation -> its declaration in a type */
export type TypeInterfaces = ReadonlyMap<string, ReadonlyMap<string, TypeOperation>>;

const none: TypeInterfaces = new Map();

/**
 * Merges the interfaces of a type with its parent's: an operation of the child replaces the parent's completely
 * (reference 5.3 A).
 */
export function parseTypeInterfaces(
  context: ElementContext,
  dataTypes: DataTypes,
  node: Node | undefined,
  parent: TypeInterfaces | null,
  path: string,
): TypeInterfaces {
  const above = parent ?? none;
  const own = entriesOf(node);
  if (own.length === 0) return above;
  spend(context.work, above.size + own.length);
  const result = new Map<string, ReadonlyMap<string, TypeOperation>>(above);
  for (const entry of own) {
    const inherited = above.get(entry.name);
    const operations = new Map<string, TypeOperation>(inherited);
    spend(context.work, operations.size + entriesOf(entry.value).length);
    for (const op of entriesOf(entry.value)) {
      operations.set(
        op.name,
        parseTypeOperation(context, dataTypes, op.value, `${path}.${entry.name}.${op.name}`),
      );
    }
    result.set(entry.name, operations);
  }
  return result;
}

/** Returns a type's interfaces in the form of the plan. */
export function typeInterfacesJson(interfaces: TypeInterfaces): JsonObject {
  const result: JsonObject = {};
  for (const [name, operations] of interfaces) {
    const written: JsonObject = {};
    for (const [op, operation] of operations) setOwn(written, op, typeOperationJson(operation) as Json);
    setOwn(result, name, written as Json);
  }
  return result;
}

/** One interface after merging. */
interface MergedInterface {
  operations: ReadonlyMap<string, MergedOperation>;
  json: JsonObject;
  missing: { operation: string; inputs: string[]; node: Node }[];
}

export interface MergedInterfaces {
  operations: ReadonlyMap<string, ReadonlyMap<string, MergedOperation>>;
  /** Inputs of type operations without any value; reported for each template that uses them. */
  missing: { interface: string; operation: string; inputs: string[]; node: Node }[];
  json: JsonObject;
}

/** Merges the interfaces of a template with those of its type (reference 5.3 B). */
export function mergeInterfaces(
  context: ElementContext,
  type: TypeInterfaces,
  template: Node | undefined,
  path: string,
): MergedInterfaces {
  const own = new Map(entriesOf(template).map((e) => [e.name, e]));
  const operations = new Map<string, ReadonlyMap<string, MergedOperation>>();
  const missing: MergedInterfaces['missing'] = [];
  const json: JsonObject = {};
  for (const name of new Set([...type.keys(), ...own.keys()])) {
    const above = type.get(name);
    const ours = own.get(name);
    const merged =
      above && !ours ? plainInterface(context, above) : mergeOne(context, name, above, ours, path);
    operations.set(name, merged.operations);
    for (const lack of merged.missing) missing.push({ interface: name, ...lack });
    setOwn(json, name, merged.json as Json);
  }
  return { operations, missing, json };
}

const plain = new WeakMap<ReadonlyMap<string, TypeOperation>, MergedInterface>();

/** Returns an interface without changes by a template: computed once for all templates and derived types. */
function plainInterface(context: ElementContext, type: ReadonlyMap<string, TypeOperation>): MergedInterface {
  let merged = plain.get(type);
  if (merged === undefined) plain.set(type, (merged = mergeOne(context, '', type, undefined, '')));
  return merged;
}

function mergeOne(
  context: ElementContext,
  name: string,
  type: ReadonlyMap<string, TypeOperation> | undefined,
  own: Entry | undefined,
  path: string,
): MergedInterface {
  const result = new Map<string, MergedOperation>();
  const json: JsonObject = {};
  const missing: MergedInterface['missing'] = [];
  const templates = new Map(entriesOf(own?.value).map((e) => [e.name, e]));
  spend(context.work, (type?.size ?? 0) + templates.size);
  for (const op of new Set([...(type?.keys() ?? []), ...templates.keys()])) {
    const written = templates.get(op);
    const above = type?.get(op);
    const ours = written
      ? parseTemplateOperation(context, written.value, joinPath(path, `${name}.${op}`))
      : undefined;
    const inputs: string[] = [];
    const merged = mergeOperation(above, ours, inputs);
    result.set(op, merged);
    setOwn(json, op, operationJson(merged) as Json);
    if (inputs.length > 0)
      missing.push({ operation: op, inputs, node: written?.value ?? own?.value ?? above!.node });
  }
  return { operations: result, json, missing };
}

function mergeOperation(
  type: TypeOperation | undefined,
  template: TemplateOperation | undefined,
  missing: string[],
): MergedOperation {
  if (!template) return { ...type!, inputs: withDefaults(type!.inputs, {}, missing) };
  const given = template.inputs === null ? {} : (toJson(template.inputs) as JsonObject);
  if (!type || isTypeNoop(type)) return { ...template, inputs: given };
  if (isTemplateNoop(template)) return { ...template, inputs: {} };
  if (template.implementation !== '' && template.implementation !== type.implementation)
    return { ...template, inputs: given };
  return {
    node: template.node,
    implementation: type.implementation,
    inputs: withDefaults(type.inputs, given, missing),
    executor: template.executor ?? type.executor,
    max_retries: template.max_retries ?? type.max_retries,
    retry_interval: template.retry_interval ?? type.retry_interval,
    timeout: template.timeout ?? type.timeout,
    timeout_recoverable: template.timeout_recoverable ?? type.timeout_recoverable,
  };
}

/**
 * Merges the given inputs into the defaults of the schemas. A mapping in an input with a declared type gets the key
 * `type`: it tells functions the type of their result (reference 5.3 C).
 */
function withDefaults(schemas: PropertySchemas, given: JsonObject, missing: string[]): JsonObject {
  const result: JsonObject = {};
  for (const [name, schema] of schemas) {
    const value = Object.hasOwn(given, name)
      ? given[name]!
      : schema.default === undefined
        ? undefined
        : jsonOf(schema.default);
    if (value === undefined) missing.push(name);
    else
      setOwn(
        result,
        name,
        schema.type !== null && isJsonObject(value) ? { ...value, type: schema.type } : value,
      );
  }
  for (const name of Object.keys(given)) if (!schemas.has(name)) setOwn(result, name, given[name]!);
  return result;
}
