// Sets of fields as managedFields holds them: `f:name` a member, `k:{...}` a member of a list by its keys, `v:...` by its value.
import { keysOf, listKind } from './merge-keys';
import { type Dict, isDict, isSame } from './object';

const SEPARATOR = '\u0000';

/** Paths of leaves, and of the members of lists that have keys. */
export type FieldSet = Set<string>;

export const partsOf = (path: string): string[] => path.split(SEPARATOR);

/** The fields of an object, without those that are never owned. */
export function fieldsOf(object: Dict, isCustom: boolean): FieldSet {
  const { apiVersion: _, kind: __, metadata, ...rest } = object;
  const { labels, annotations, finalizers, ownerReferences } = isDict(metadata) ? metadata : ({} as Dict);
  const own = { ...rest, metadata: { labels, annotations, finalizers, ownerReferences } };
  const fields: FieldSet = new Set();
  for (const [name, value] of Object.entries(own))
    if (name !== 'metadata') collect(value, [name], [`f:${name}`], fields, isCustom);
  for (const [name, value] of Object.entries(own.metadata))
    if (value !== undefined)
      collect(value, ['metadata', name], ['f:metadata', `f:${name}`], fields, isCustom);
  return fields;
}

function collect(
  value: unknown,
  at: readonly string[],
  path: readonly string[],
  into: FieldSet,
  isCustom: boolean,
): void {
  const here = path.join(SEPARATOR);
  if (isDict(value)) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    if (members.length === 0) into.add(here);
    for (const [name, member] of members)
      collect(member, [...at, name], [...path, `f:${name}`], into, isCustom);
    return;
  }
  const kind = Array.isArray(value) ? listKind(at, isCustom) : 'atomic';
  if (!Array.isArray(value) || kind === 'atomic') into.add(here);
  else if (kind === 'set')
    for (const item of value) into.add([...path, `v:${JSON.stringify(item)}`].join(SEPARATOR));
  else
    for (const item of value.filter(isDict)) {
      const step = [...path, `k:${JSON.stringify(keysOf(item, kind))}`];
      into.add(step.join(SEPARATOR));
      for (const [name, member] of Object.entries(item))
        collect(member, [...at, '[]', name], [...step, `f:${name}`], into, isCustom);
    }
}

/** The value at a path; undefined: there is none. */
export function valueAt(root: unknown, path: string): unknown {
  let value = root;
  for (const part of partsOf(path)) {
    value = memberAt(value, part);
    if (value === undefined) return undefined;
  }
  return value;
}

function memberAt(value: unknown, part: string): unknown {
  if (part.startsWith('f:')) return isDict(value) ? value[part.slice(2)] : undefined;
  const index = indexOf(value, part);
  return index < 0 ? undefined : (value as unknown[])[index];
}

function indexOf(value: unknown, part: string): number {
  if (!Array.isArray(value)) return -1;
  const wanted = JSON.parse(part.slice(2)) as unknown;
  if (part.startsWith('v:')) return value.findIndex((item) => isSame(item, wanted));
  const keys = Object.keys(wanted as Dict);
  return value.findIndex((item) => isDict(item) && isSame(keysOf(item, keys), wanted));
}

/** Removes the value at a path, and parents that become empty. */
export function removeAt(root: unknown, path: readonly string[]): void {
  const [part, ...rest] = path;
  if (part === undefined) return;
  const child = memberAt(root, part);
  if (child === undefined) return;
  if (rest.length > 0) {
    removeAt(child, rest);
    const isEmpty = Array.isArray(child)
      ? child.length === 0
      : isDict(child) && Object.keys(child).length === 0;
    if (!isEmpty) return;
  }
  if (part.startsWith('f:')) delete (root as Dict)[part.slice(2)];
  else (root as unknown[]).splice(indexOf(root, part), 1);
}

export function toFieldsV1(fields: FieldSet): Dict {
  const root: Dict = {};
  for (const path of [...fields].sort()) {
    let at = root;
    for (const part of partsOf(path)) at = (at[part] ??= {}) as Dict;
    if (partsOf(path).at(-1)!.startsWith('k:')) at['.'] = {};
  }
  return root;
}

export function fromFieldsV1(value: Dict, path: readonly string[] = []): FieldSet {
  const fields: FieldSet = new Set();
  const members = Object.entries(value);
  if (members.length === 0 && path.length > 0) fields.add(path.join(SEPARATOR));
  for (const [part, inner] of members) {
    // The member itself; maps are never owned as such here.
    if (part === '.') {
      if (path.at(-1)?.startsWith('k:')) fields.add(path.join(SEPARATOR));
      continue;
    }
    for (const field of fromFieldsV1(inner as Dict, [...path, part])) fields.add(field);
  }
  return fields;
}

/** For people: `.spec.template.spec.containers[name="web"].image`. */
export const shownPath = (path: string): string =>
  partsOf(path)
    .map((part) => {
      if (part.startsWith('f:')) return `.${part.slice(2)}`;
      if (part.startsWith('v:')) return `[=${part.slice(2)}]`;
      const keys = Object.entries(JSON.parse(part.slice(2)) as Dict);
      return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(',')}]`;
    })
    .join('');
