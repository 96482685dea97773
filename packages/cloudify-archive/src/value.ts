/**
 * A value of an archive. Like JSON, but whole numbers beyond 2^53 are kept as bigint, and NaN and infinities may occur: Python
 * writes both. `exactJson` writes such a value as text.
 */
export type Value = null | boolean | number | bigint | string | Value[] | ValueObject;
export interface ValueObject {
  [key: string]: Value;
}

/**
 * Something that a reader changed or that the next step must decide.
 * - `big-integer`: a whole number beyond 2^53, kept as bigint. `not-a-number`: NaN or an infinity.
 * - `key-as-text`: a key of a dict was no text and is written as JSON of Python writes it. `set-as-list`: a set became a list.
 * - `unknown-class`, `role-unknown`, `reference-missing`, `filled`: the message says which.
 */
export type NoteCode =
  | 'big-integer'
  | 'not-a-number'
  | 'key-as-text'
  | 'set-as-list'
  | 'date-as-text'
  | 'role-unknown'
  | 'reference-missing'
  | 'lossy-source';

export interface Note {
  code: NoteCode;
  /** Field, and path in it: `runtime_properties.size`. */
  path: string;
  message: string;
}

export const isObject = (value: Value | undefined): value is ValueObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An object whose keys may be any text; `__proto__` too is only a key. */
export function setOwn(target: ValueObject, key: string, value: Value): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}

/** JSON text of a value, with bigints as digits. NaN and infinities become null, as in JSON.stringify. Recursive: depth is bounded by the readers. */
export function exactJson(value: Value): string {
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return `[${value.map(exactJson).join(',')}]`;
  if (isObject(value))
    return `{${Object.keys(value)
      .map((key) => `${JSON.stringify(key)}:${exactJson(value[key]!)}`)
      .join(',')}}`;
  return JSON.stringify(value);
}
