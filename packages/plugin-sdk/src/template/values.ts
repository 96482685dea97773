import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import { isFalsy, pythonText } from './python-text';

/** A value of an expression; undefined is a name or key that does not exist. */
export type Value = Json | undefined;
export function toText(value: Value): string {
  return value === undefined ? '' : pythonText(value);
}

export function isTrue(value: Value): boolean {
  return !isFalsy(value);
}

/** Reads only own keys and list positions: no internals of JavaScript can be reached. */
export function memberOf(value: Value, key: Value): Value {
  if (Array.isArray(value) && typeof key === 'number') return value.at(key);
  if (typeof value === 'string' && typeof key === 'number') return value.at(key);
  if (isJsonObject(value) && (typeof key === 'string' || typeof key === 'number')) {
    return Object.hasOwn(value, String(key)) ? value[String(key)] : undefined;
  }
  return undefined;
}

export function iterate(value: Value): Json[] {
  if (Array.isArray(value)) return value;
  if (typeof value === 'string') return [...value];
  return isJsonObject(value) ? Object.keys(value) : [];
}

export function contains(holder: Value, item: Value): boolean {
  if (typeof holder === 'string') return holder.includes(toText(item));
  return iterate(holder).some((one) => JSON.stringify(one) === JSON.stringify(item));
}

/** A part of a list or text, as Python's `[from:to:by]` takes it. */
export function sliceOf(value: Value, [from, to, by]: readonly Value[]): Value {
  const isText = typeof value === 'string';
  if (!isText && !Array.isArray(value)) return undefined;
  const items: Json[] = isText ? [...value] : value;
  const step = typeof by === 'number' ? Math.trunc(by) : 1;
  if (step === 0) return undefined;
  const bound = (given: Value): number | undefined => (typeof given === 'number' ? given : undefined);
  const part =
    step > 0
      ? items.slice(bound(from), bound(to)).filter((_, i) => i % step === 0)
      : [...items].reverse().filter((_, i) => i % -step === 0);
  if (step < 0 && (bound(from) !== undefined || bound(to) !== undefined)) return undefined;
  return isText ? part.join('') : part;
}

const namespaces = new WeakSet<object>();

/** A dictionary whose keys a `set` may change later, also from inside of a loop. */
export function newNamespace(entries: Readonly<Record<string, Value>>): Value {
  const made: JsonObject = Object.fromEntries(
    Object.entries(entries).map(([name, value]) => [name, value ?? null]),
  );
  namespaces.add(made);
  return made;
}

/** Sets a key of a namespace; false: the value is no namespace. */
export function setInNamespace(holder: Value, key: string, value: Value): boolean {
  if (!isJsonObject(holder) || !namespaces.has(holder)) return false;
  // A namespace inside of itself would have no end.
  const inner = isJsonObject(value) && namespaces.has(value) ? { ...value } : (value ?? null);
  Object.defineProperty(holder, key, { value: inner, enumerable: true, writable: true, configurable: true });
  return true;
}
