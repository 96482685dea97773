// Who owns which fields, and server-side apply (spec: "Server-Side Apply" of the Kubernetes reference).
import { ApiError } from './api-error';
import {
  type FieldSet,
  fieldsOf,
  fromFieldsV1,
  partsOf,
  removeAt,
  shownPath,
  toFieldsV1,
  valueAt,
} from './field-set';
import { keysOf, listKind } from './merge-keys';
import { type Dict, isDict, isSame, type KubeObject, type ManagedFields } from './object';

export interface Writer {
  manager: string;
  /** For instance `status`. */
  subresource?: string;
  time: string;
  isCustom: boolean;
}

interface Owner extends Omit<ManagedFields, 'fieldsV1'> {
  fields: FieldSet;
}

const ownersOf = (object: KubeObject): Owner[] =>
  (object.metadata.managedFields ?? [])
    .filter(({ manager }) => typeof manager === 'string')
    .map(({ fieldsV1, ...rest }) => ({ ...rest, fields: fromFieldsV1(fieldsV1 ?? {}) }));

function setOwners(object: KubeObject, owners: readonly Owner[]): void {
  object.metadata.managedFields = owners
    .filter(({ fields, operation }) => fields.size > 0 || operation === 'Apply')
    .map(({ fields, ...rest }) => ({ ...rest, fieldsV1: toFieldsV1(fields) }));
}

const isOwner = (owner: Owner, writer: Writer, operation: Owner['operation']): boolean =>
  owner.manager === writer.manager &&
  owner.operation === operation &&
  owner.subresource === writer.subresource;

const newOwner = (object: KubeObject, writer: Writer, operation: Owner['operation']): Owner => ({
  manager: writer.manager,
  operation,
  apiVersion: object.apiVersion,
  time: writer.time,
  fieldsType: 'FieldsV1',
  fields: new Set(),
  ...(writer.subresource === undefined ? {} : { subresource: writer.subresource }),
});

/** Gives the fields that a write changed to its writer. `before`: undefined for a new object. */
export function recordUpdate(before: KubeObject | undefined, after: KubeObject, writer: Writer): void {
  const now = fieldsOf(after, writer.isCustom);
  const changed = new Set(
    [...now].filter(
      (path) => before === undefined || !isLeafSame(valueAt(before, path), valueAt(after, path), path),
    ),
  );
  const owners = ownersOf(after);
  if (changed.size > 0 && !owners.some((owner) => isOwner(owner, writer, 'Update')))
    owners.push(newOwner(after, writer, 'Update'));
  for (const owner of owners) {
    const isWriter = isOwner(owner, writer, 'Update');
    const kept = [...owner.fields].filter((path) => now.has(path) && (isWriter || !changed.has(path)));
    owner.fields = new Set(isWriter ? [...kept, ...changed] : kept);
    if (isWriter && changed.size > 0) owner.time = writer.time;
  }
  setOwners(after, owners);
}

/** A member of a list with keys is the same when it is there: its own fields are compared by themselves. */
const isLeafSame = (a: unknown, b: unknown, path: string): boolean =>
  partsOf(path).at(-1)!.startsWith('k:') ? (a === undefined) === (b === undefined) : isSame(a, b);

/**
 * Applies a configuration: its fields become those of the manager; fields that the manager had and no longer names are removed,
 * unless somebody else owns them.
 * @throws ApiError 409 for fields of others with other values, unless `force`
 */
export function serverSideApply(live: KubeObject, config: Dict, writer: Writer, force: boolean): KubeObject {
  const wanted = fieldsOf(config, writer.isCustom);
  const owners = ownersOf(live);
  const others = owners.filter((owner) => !isOwner(owner, writer, 'Apply'));
  const conflicts: { path: string; manager: string }[] = [];
  for (const other of others)
    for (const path of wanted) {
      if (!other.fields.has(path) || isLeafSame(valueAt(live, path), valueAt(config, path), path)) continue;
      if (force) other.fields.delete(path);
      else conflicts.push({ path, manager: other.manager });
    }
  if (conflicts.length > 0) throw conflictOf(conflicts);
  const merged = structuredClone(live);
  const mine = owners.find((owner) => isOwner(owner, writer, 'Apply')) ?? newOwner(live, writer, 'Apply');
  // The longest first: leaves go before the members of lists around them.
  for (const path of [...mine.fields].sort((a, b) => b.length - a.length))
    if (!wanted.has(path) && !others.some(({ fields }) => isHeld(fields, path)))
      removeAt(merged, partsOf(path));
  const { apiVersion: _, kind: __, metadata, ...rest } = config;
  const { labels, annotations, finalizers, ownerReferences } = isDict(metadata) ? metadata : ({} as Dict);
  const named = Object.entries({ labels, annotations, finalizers, ownerReferences });
  const given = { ...rest, metadata: Object.fromEntries(named.filter(([, value]) => value !== undefined)) };
  const result = merge(merged, given, [], writer.isCustom) as KubeObject;
  const isChanged = !isSame([...mine.fields].sort(), [...wanted].sort());
  mine.fields = wanted;
  if (isChanged) mine.time = writer.time;
  setOwners(result, [...others, mine]);
  return result;
}

/** Somebody owns the field, or a field inside of it. */
const isHeld = (fields: FieldSet, path: string): boolean =>
  fields.has(path) || [...fields].some((field) => field.startsWith(`${path}\u0000`));

function merge(live: unknown, config: unknown, at: readonly string[], isCustom: boolean): unknown {
  if (isDict(config)) {
    const result: Dict = isDict(live) ? { ...live } : {};
    for (const [name, value] of Object.entries(config))
      result[name] = merge(result[name], value, [...at, name], isCustom);
    return result;
  }
  if (!Array.isArray(config) || !Array.isArray(live)) return config;
  const kind = listKind(at, isCustom);
  if (kind === 'atomic') return config;
  const isEqual = (a: unknown, b: unknown): boolean =>
    kind === 'set' ? isSame(a, b) : isSame(keysOf(a as Dict, kind), keysOf(b as Dict, kind));
  const result = [...live] as unknown[];
  for (const item of config as unknown[]) {
    const index = result.findIndex((one) => isEqual(one, item));
    if (index < 0) result.push(item);
    else result[index] = merge(result[index], item, [...at, '[]'], isCustom);
  }
  return result;
}

function conflictOf(conflicts: readonly { path: string; manager: string }[]): ApiError {
  const lines = conflicts.map(({ path, manager }) => `conflict with "${manager}": ${shownPath(path)}`);
  const count = conflicts.length === 1 ? '1 conflict' : `${conflicts.length} conflicts`;
  return new ApiError(409, 'Conflict', `Apply failed with ${count}: ${lines.join('\n')}`, {
    causes: conflicts.map(({ path, manager }) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with "${manager}"`,
      field: shownPath(path),
    })),
  });
}
