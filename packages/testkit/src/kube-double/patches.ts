import { badRequest, invalid } from './api-error';
import { keysOf, listKind } from './merge-keys';
import { type Dict, isDict, isSame } from './object';

/** JSON Merge Patch (RFC 7386). */
export function mergePatch(live: unknown, patch: unknown): unknown {
  if (!isDict(patch)) return patch;
  const result: Dict = isDict(live) ? { ...live } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = mergePatch(result[name], value);
  }
  return result;
}

/** JSON Patch (RFC 6902), without move and copy. @throws ApiError 422 when a test fails or a path does not exist */
export function jsonPatch(live: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch)) throw badRequest('a JSON patch is a list');
  const root = { '': structuredClone(live) } as Dict;
  for (const { op, path, value } of patch as Dict[]) {
    const parts = ['', ...String(path).split('/').slice(1)].map((part) =>
      part.replaceAll('~1', '/').replaceAll('~0', '~'),
    );
    const last = parts.pop()!;
    let at: unknown = root;
    for (const part of parts) at = (at as Dict | undefined)?.[part];
    if (typeof at !== 'object' || at === null) throw refused(String(path));
    const present = (at as Dict)[last];
    if (op === 'test' ? !isSame(present, value) : op !== 'add' && present === undefined)
      throw refused(String(path));
    if (op === 'test') continue;
    if (!Array.isArray(at)) {
      if (op === 'remove') delete (at as Dict)[last];
      else (at as Dict)[last] = value;
    } else if (op === 'remove') at.splice(Number(last), 1);
    else if (op === 'replace') at[Number(last)] = value;
    else at.splice(last === '-' ? at.length : Number(last), 0, value);
  }
  return root[''];
}

const refused = (path: string): Error =>
  invalid({ group: '', resource: '', kind: 'JSONPatch' }, path, [[path, 'the server rejected our request']]);

const ORDER = '$setElementOrder/';
const DELETE_VALUES = '$deleteFromPrimitiveList/';

/** Strategic merge patch: lists are merged by the keys of their members; directives begin with `$`. */
export function strategicMergePatch(live: unknown, patch: unknown, at: readonly string[] = []): unknown {
  if (!isDict(patch)) return patch;
  const { $patch: directive, $retainKeys: retained, ...members } = patch;
  if (directive === 'replace') return members;
  const result: Dict = isDict(live) ? { ...live } : {};
  if (Array.isArray(retained))
    for (const name of Object.keys(result)) if (!retained.includes(name)) delete result[name];
  for (const [name, value] of Object.entries(members)) {
    if (name.startsWith(ORDER)) continue;
    if (name.startsWith(DELETE_VALUES)) {
      const list = name.slice(DELETE_VALUES.length);
      const values = value as unknown[];
      if (Array.isArray(result[list])) result[list] = result[list].filter((item) => !values.includes(item));
    } else if (value === null) delete result[name];
    else if (isDict(value) && value.$patch === 'delete') delete result[name];
    else if (Array.isArray(value)) result[name] = mergeList(result[name], value, [...at, name]);
    else result[name] = strategicMergePatch(result[name], value, [...at, name]);
  }
  for (const [name, order] of Object.entries(members))
    if (name.startsWith(ORDER)) sort(result, name.slice(ORDER.length), order as unknown[], at);
  return result;
}

function mergeList(live: unknown, patch: unknown[], at: readonly string[]): unknown[] {
  const kind = listKind(at, false);
  const isReplaced = patch.some((item) => isDict(item) && item.$patch === 'replace');
  const plain = patch.filter((item) => !(isDict(item) && item.$patch === 'replace'));
  if (kind === 'atomic' || isReplaced || !Array.isArray(live))
    return plain
      .filter((item) => !(isDict(item) && item.$patch === 'delete'))
      .map((item) => strategicMergePatch({}, item, [...at, '[]']));
  const result = [...live] as unknown[];
  if (kind === 'set') return [...new Set([...result, ...plain])];
  const key = kind.slice(0, 1);
  for (const item of plain.filter(isDict)) {
    const index = result.findIndex((one) => isDict(one) && isSame(keysOf(one, key), keysOf(item, key)));
    if (item.$patch === 'delete') {
      if (index >= 0) result.splice(index, 1);
    } else if (index < 0) result.push(strategicMergePatch({}, item, [...at, '[]']));
    else result[index] = strategicMergePatch(result[index], item, [...at, '[]']);
  }
  return result;
}

/** Puts the members of a list into the order that the patch names; others stay behind them. */
function sort(result: Dict, name: string, order: readonly unknown[], at: readonly string[]): void {
  const list = result[name];
  if (!Array.isArray(list)) return;
  const kind = listKind([...at, name], false);
  const placeOf = (item: unknown): number => {
    const index = order.findIndex((one) =>
      typeof kind === 'string' || !isDict(one) || !isDict(item)
        ? isSame(one, item)
        : isSame(keysOf(one, kind.slice(0, 1)), keysOf(item, kind.slice(0, 1))),
    );
    return index < 0 ? order.length : index;
  };
  result[name] = [...list].sort((a, b) => placeOf(a) - placeOf(b));
}
