/** Values that JSON can hold. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type Dict = Record<string, Json>;

/** Whether a value is a dictionary. */
export const isDict = (value: unknown): value is Dict =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A dictionary, or an empty one for a value that is none. */
export const dictOf = (value: unknown): Dict => (isDict(value) ? value : {});

/** A list; a value that is none becomes a list of one, and nothing an empty one. */
export const listOf = (value: unknown): Json[] => {
  if (Array.isArray(value)) return value as Json[];
  return value === undefined || value === null || value === '' ? [] : [value as Json];
};

/** The value at a path of keys and positions; null: there is none. */
export function fieldAt(value: unknown, path: readonly unknown[]): Json {
  let at = value;
  for (const key of path) {
    if (Array.isArray(at)) at = at[Number(key)];
    else if (isDict(at) && Object.hasOwn(at, String(key))) at = at[String(key)];
    else return null;
  }
  return (at ?? null) as Json;
}

/** Sets a key of a dictionary, also one such as __proto__. */
export function setKey(dict: Dict, key: string, value: Json): void {
  Object.defineProperty(dict, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Whether two values are the same, without regard to the order of keys. */
export function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((one, i) => isSame(one, b[i]));
  if (isDict(a) && isDict(b)) {
    const keys = Object.keys(a);
    return (
      keys.length === Object.keys(b).length &&
      keys.every((key) => Object.hasOwn(b, key) && isSame(a[key], b[key]))
    );
  }
  return a === b;
}

/** The text that Python makes of a value: patterns of the original match it. */
export function pythonText(value: Json, isInside = false): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return isInside ? quoted(value) : value;
  if (typeof value === 'number') return String(value);
  if (Array.isArray(value)) return `[${value.map((one) => pythonText(one, true)).join(', ')}]`;
  const entries = Object.entries(value).map(([key, one]) => `${quoted(key)}: ${pythonText(one, true)}`);
  return `{${entries.join(', ')}}`;
}

function quoted(text: string): string {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replaceAll('\\', '\\\\').replaceAll(mark, `\\${mark}`).replaceAll('\n', '\\n');
  return `${mark}${escaped}${mark}`;
}

/** Runtime properties with names that nobody declares. */
export const asDict = (value: object): Dict => value as unknown as Dict;
