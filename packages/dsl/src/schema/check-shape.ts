import { fitsEveryVersion } from '../builtin/builtin';
import type { Diagnostics } from '../diagnostics/diagnostic';
import { withArticle } from '../diagnostics/wording';
import { type Entry, isNull, type MapNode, type Node } from '../yaml/node';
import { type Field, type ObjectShape, type Shape, shapeName, type Version } from './shape';

export interface ShapeContext {
  diagnostics: Diagnostics;
  version: Version;
  validateVersion: boolean;
}

export function compareVersions(a: Version, b: Version): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const difference = (a[i] ?? -1) - (b[i] ?? -1);
    if (difference !== 0) return difference;
  }
  return 0;
}

function versionName(version: Version): string {
  return `cloudify_dsl_${version.join('_')}`;
}

/**
 * Reports a feature that the blueprint's version does not have yet (reference 1). Features used by our own text of the
 * built-in types at a public address are not the blueprint's.
 */
export function gate(context: ShapeContext, feature: string, since: Version, at: Node, path: string): void {
  if (!context.validateVersion || compareVersions(context.version, since) >= 0) return;
  if (fitsEveryVersion(at.source)) return;
  context.diagnostics.report(
    'feature_too_new',
    `${feature} is not supported in ${versionName(context.version)}, it was added in ${versionName(since)}`,
    {
      at,
      path,
      value: feature,
      expected: `tosca_definitions_version: ${versionName(since)} or newer`,
    },
  );
}

/** Returns the name of a node's type, in the words of the language. */
export function foundName(node: Node): string {
  if (node.kind === 'map') return 'dict';
  if (node.kind === 'seq') return 'list';
  return node.type;
}

export function joinPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

/** Checks `node` against `shape` and reports every difference; returns whether it matches. */
export function checkShape(context: ShapeContext, node: Node, shape: Shape, path: string): boolean {
  if (isNull(node)) return checkNull(context, node, shape, path);
  switch (shape.t) {
    case 'value':
      return true;
    case 'dict':
      return node.kind === 'map' || wrongType(context, node, shape, path);
    case 'list': {
      if (node.kind !== 'seq') return wrongType(context, node, shape, path);
      if (shape.of.t === 'value') return true;
      let isFit = true;
      for (let i = 0; i < node.items.length; i++) {
        if (!checkItem(context, node.items[i]!, shape.of, `${path}[${i}]`)) isFit = false;
      }
      return isFit;
    }
    case 'named':
      return node.kind === 'map'
        ? checkNamed(context, node, shape.of, path)
        : wrongType(context, node, shape, path);
    case 'object':
      return node.kind === 'map'
        ? checkObject(context, node, shape, path)
        : wrongType(context, node, shape, path);
    case 'either':
      return checkEither(context, node, shape.of, path) ?? wrongType(context, node, shape, path);
    default:
      return fitsScalar(node, shape.t) || wrongType(context, node, shape, path);
  }
}

/** A list item cannot be absent, so null is a wrong type there. */
function checkItem(context: ShapeContext, item: Node, shape: Shape, path: string): boolean {
  if (isNull(item))
    return ('isNullable' in shape && shape.isNullable === true) || wrongType(context, item, shape, path);
  return checkShape(context, item, shape, path);
}

function fitsScalar(node: Node, t: 'text' | 'integer' | 'number' | 'boolean'): boolean {
  if (node.kind !== 'scalar') return false;
  switch (t) {
    case 'text':
      return node.type === 'string';
    case 'boolean':
      return node.type === 'boolean';
    // for the original booleans are integers, so they are accepted
    case 'integer':
      return node.type === 'integer' || node.type === 'boolean';
    case 'number':
      return node.type === 'integer' || node.type === 'float' || node.type === 'boolean';
  }
}

function wrongType(context: ShapeContext, node: Node, shape: Shape, path: string): boolean {
  const expected = shapeName(shape);
  context.diagnostics.report(
    'bad_shape',
    `${path === '' ? 'the document' : `"${path}"`} must be ${withArticle(expected)}, not ${withArticle(foundName(node))}`,
    { at: node, path, expected },
  );
  return false;
}

function checkNull(context: ShapeContext, node: Node, shape: Shape, path: string): boolean {
  if (shape.t === 'either') return checkNull(context, node, shape.of[shape.of.length - 1]!, path);
  if (shape.t !== 'object') return true;
  if (shape.nullKind) {
    context.diagnostics.report(shape.nullKind, `"${path}" is empty`, {
      at: node,
      path,
      expected: '{} or a schema',
    });
    return false;
  }
  let isFit = true;
  for (const name of Object.keys(shape.fields)) {
    if (!shape.fields[name]!.required) continue;
    context.diagnostics.report('missing_key', `"${path}" lacks "${name}"`, {
      at: node,
      path,
      checkedAt: joinPath(path, name),
      expected: `${name}: ${shapeName(shape.fields[name]!.shape)}`,
    });
    isFit = false;
  }
  return isFit;
}

/** Reports a key that is not a text. */
export function checkKey(context: ShapeContext, entry: Entry, path: string): boolean {
  if (entry.key.type === 'string') return true;
  context.diagnostics.report(
    'bad_key',
    `the key ${entry.name} of "${path}" must be a string, not ${withArticle(entry.key.type)}`,
    { at: entry.key, path, expected: `"${entry.name}" in quotes` },
  );
  return false;
}

function checkNamed(context: ShapeContext, node: MapNode, of: Shape, path: string): boolean {
  let isFit = true;
  for (const entry of node.entries) {
    if (!checkKey(context, entry, path)) isFit = false;
    else if (of.t !== 'value' && !checkShape(context, entry.value, of, joinPath(path, entry.name)))
      isFit = false;
  }
  return isFit;
}

function checkObject(context: ShapeContext, node: MapNode, shape: ObjectShape, path: string): boolean {
  let isFit = true;
  for (const entry of node.entries) {
    if (!checkKey(context, entry, path)) {
      isFit = false;
      continue;
    }
    const field = Object.hasOwn(shape.fields, entry.name) ? shape.fields[entry.name] : undefined;
    if (field === undefined) {
      context.diagnostics.report('unknown_key', `"${entry.name}" is not a key of a ${shape.name}`, {
        at: entry.key,
        path: joinPath(path, entry.name),
        checkedAt: path,
        name: entry.name,
        valid: Object.keys(shape.fields),
      });
      isFit = false;
    } else if (!checkField(context, entry, field, joinPath(path, entry.name))) isFit = false;
  }
  for (const name of Object.keys(shape.fields)) {
    const field = shape.fields[name]!;
    if (!field.required || !isNull(node.get(name))) continue;
    context.diagnostics.report(
      'missing_key',
      `${path === '' ? 'the document' : `"${path}"`} lacks "${name}"`,
      {
        at: node.get(name) ?? node,
        path,
        checkedAt: joinPath(path, name),
        expected: `${name}: ${shapeName(field.shape)}`,
      },
    );
    isFit = false;
  }
  return isFit;
}

function checkField(context: ShapeContext, entry: Entry, field: Field, path: string): boolean {
  if (isNull(entry.value)) return true;
  const isFit = checkShape(context, entry.value, field.shape, path);
  if (field.since) gate(context, entry.name, field.since, entry.key, path);
  return isFit;
}

/** Of several alternatives the one of the node's own kind gives the useful faults. */
function checkEither(context: ShapeContext, node: Node, of: readonly Shape[], path: string): boolean | null {
  for (const shape of of) {
    const isKind =
      node.kind === 'map'
        ? shape.t === 'object' || shape.t === 'dict' || shape.t === 'named'
        : node.kind === 'seq'
          ? shape.t === 'list'
          : shape.t === 'text' && node.type === 'string';
    if (isKind) return checkShape(context, node, shape, path);
  }
  return null;
}
