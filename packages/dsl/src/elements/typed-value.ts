import type { Json } from '@baton/kernel';
import { checkPattern, patternCost } from '../constraints/pattern';
import { shownValue } from '../diagnostics/diagnostic';
import { isFunctionNode } from '../functions/registry';
import { foundName, joinPath } from '../schema/check-shape';
import { type Entry, isNull, MapNode, type Node, textOf, toJson } from '../yaml/node';
import { type ElementContext, spend, spendValues } from './element-context';
import { primitiveTypes } from './primitive-types';
import type { DataTypeLookup, PropertySchema, PropertySchemas } from './property-schema';

/** Parameters of the check of a value against its declared type (reference 3.1 and 3.2). */
export interface ValueCheck {
  context: ElementContext;
  dataTypes: DataTypeLookup;
  /** Owner of the value, for messages: `node template "web"`. */
  owner: string;
  /** Path of the owner in the document. */
  path: string;
  /** Whether required keys may be absent: in defaults of types, but not in values of templates and inputs. */
  allowMissing: boolean;
  /** The owner's type is partly unknown: undeclared keys are kept as they are. */
  isPartial?: boolean;
}

export function typeOf(schema: Node | undefined): string | null {
  return (schema?.kind === 'map' ? textOf(schema.get('type')) : undefined) ?? null;
}

/** Whether a value matches a primitive type. */
export function fitsPrimitive(node: Node, type: string): boolean {
  if (isFunctionNode(node)) return true;
  switch (type) {
    case 'integer':
      return node.kind === 'scalar' && node.type === 'integer';
    case 'float':
      return node.kind === 'scalar' && (node.type === 'integer' || node.type === 'float');
    case 'boolean':
      return node.kind === 'scalar' && node.type === 'boolean';
    case 'list':
      return node.kind === 'seq';
    case 'dict':
      return node.kind === 'map';
    case 'regex':
      return node.kind === 'scalar' && node.type === 'string' && checkPattern(node.value as string) === null;
    default:
      return true;
  }
}

function mismatch(check: ValueCheck, node: Node, type: string, path: string): void {
  const where =
    path === check.path ? check.owner : `property "${path.slice(check.path.length + 1)}" of ${check.owner}`;
  check.context.diagnostics.report(
    'type_mismatch',
    `${where} is of the type ${type}, the value is ${node.kind === 'scalar' ? shownValue(node.value) : `a ${foundName(node)}`}`,
    {
      at: node,
      path,
      expected: type === 'regex' ? 'a regular expression' : type,
    },
  );
}

/**
 * Checks `value` and adds the defaults of data types below it. `fallback` provides the keys that `value` lacks, when
 * both are values of the same data type.
 */
export function typedValue(
  check: ValueCheck,
  value: Node,
  type: string | null,
  fallback: Node | undefined,
  path: string,
): Node {
  if (type === null || isFunctionNode(value)) return value;
  if (primitiveTypes.has(type)) {
    if (type === 'regex' && value.kind === 'scalar')
      spend(check.context.work, patternCost(String(value.value)));
    if (!fitsPrimitive(value, type)) mismatch(check, value, type, path);
    return value;
  }
  const dataType = check.dataTypes.get(type);
  if (dataType === undefined) return value;
  if (value.kind !== 'map') {
    mismatch(check, value, type, path);
    return value;
  }
  return fill(
    check,
    value,
    dataType.properties,
    fallback?.kind === 'map' && !isFunctionNode(fallback) ? fallback : undefined,
    path,
  );
}

/** Checks a mapping against property schemas and returns it in the order of the schemas. */
export function fill(
  check: ValueCheck,
  value: MapNode,
  schemas: PropertySchemas,
  fallback: MapNode | undefined,
  path: string,
): MapNode {
  for (const entry of value.entries) {
    if (schemas.has(entry.name) || (check.isPartial && path === check.path)) continue;
    check.context.diagnostics.report(
      'undefined_property',
      `${check.owner} has no property "${path === check.path ? entry.name : joinPath(path.slice(check.path.length + 1), entry.name)}"`,
      {
        at: entry.key,
        path: joinPath(path, entry.name),
        value: entry.name,
        name: entry.name,
        valid: schemas.keys(),
      },
    );
  }
  spend(check.context.work, schemas.size);
  const isExternal = usesExisting(check, value, schemas, fallback, path);
  const entries: Entry[] = [];
  for (const [name, schema] of schemas) {
    const own = value.entry(name);
    const inherited = fallback?.get(name) ?? schema.default;
    const given = own?.value ?? inherited;
    if (given === undefined) {
      if (schema.required && !check.allowMissing && !isExternal)
        reportMissing(check, value, schema, name, path);
      continue;
    }
    const result = own
      ? typedValue(check, own.value, schema.type, inherited, joinPath(path, name))
      : checkedDefault(check, schema, given, fallback, joinPath(path, name));
    entries.push({
      name,
      key: own?.key ?? schema.node.entry('default')?.key ?? keyOf(schema, value, name),
      value: result,
    });
  }
  if (check.isPartial && path === check.path)
    entries.push(...value.entries.filter((entry) => !schemas.has(entry.name)));
  return new MapNode(entries, value.source, value.start);
}

const EXTERNAL = 'use_external_resource';

/** Whether these properties name an existing resource: then the other required properties may be absent. */
function usesExisting(
  check: ValueCheck,
  value: MapNode,
  schemas: PropertySchemas,
  fallback: MapNode | undefined,
  path: string,
): boolean {
  const declared = schemas.get(EXTERNAL);
  const external = declared && (value.get(EXTERNAL) ?? fallback?.get(EXTERNAL) ?? declared.default);
  if (external === undefined) return false;
  if (isFunctionNode(external)) {
    check.context.diagnostics.report(
      'external_resource_function',
      `"${EXTERNAL}" of ${check.owner} cannot be a function`,
      { at: external, path: joinPath(path, EXTERNAL), expected: 'true or false' },
    );
  }
  return isTruthy(toJson(external));
}

/** Truth as in the original's language. */
export function isTruthy(value: Json): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (value !== null && typeof value === 'object') return Object.keys(value).length > 0;
  return Boolean(value);
}

/** A default is checked once for all its users; only values from a fallback are checked each time. */
function checkedDefault(
  check: ValueCheck,
  schema: PropertySchema,
  given: Node,
  fallback: MapNode | undefined,
  path: string,
): Node {
  spendValues(check.context.work, valuesIn(given));
  const isOwn = given === schema.default && fallback === undefined;
  if (isOwn && (schema.isDefaultComplete || check.allowMissing)) return given;
  const before = check.context.diagnostics.list.length;
  const result = typedValue(check, given, schema.type, undefined, path);
  if (isOwn && check.context.diagnostics.list.length === before) {
    schema.default = result;
    schema.isDefaultComplete = true;
  }
  return result;
}

const counts = new WeakMap<Node, number>();

/** Returns the number of values in a node, with every shared part counted each time. */
function valuesIn(node: Node): number {
  if (node.kind === 'scalar') return 1;
  let count = counts.get(node);
  if (count === undefined) {
    count = 1;
    if (node.kind === 'seq') for (const item of node.items) count += valuesIn(item);
    else for (const entry of node.entries) count += 1 + valuesIn(entry.value);
    counts.set(node, count);
  }
  return count;
}

function keyOf(schema: PropertySchema, value: MapNode, name: string): Entry['key'] {
  return {
    kind: 'scalar',
    value: name,
    type: 'string',
    source: schema.node.source ?? value.source,
    start: schema.node.start,
  } as Entry['key'];
}

function reportMissing(
  check: ValueCheck,
  value: MapNode,
  schema: PropertySchema,
  name: string,
  path: string,
): void {
  const dotted = path === check.path ? name : joinPath(path.slice(check.path.length + 1), name);
  check.context.diagnostics.report(
    'missing_property',
    `${check.owner} lacks a value for the property "${dotted}"`,
    {
      at: value.source.text === '' ? schema.node : value,
      path: joinPath(path, name),
      expected: schema.type === null ? 'a value' : `a value of the type ${schema.type}`,
    },
  );
}

export function isGiven(node: Node | undefined): node is Node {
  return !isNull(node);
}
