import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';

/** One step of a path such as `a.b[3].c`. */
type Step = string | number;

function stepsOf(path: string): Step[] | null {
  const steps: Step[] = [];
  for (const part of path.split('.')) {
    const match = /^([^[\]]*)((?:\[\d+\])*)$/.exec(part);
    if (!match || (match[1] === '' && match[2] === '')) return null;
    if (match[1] !== '') steps.push(match[1] as string);
    for (const index of (match[2] as string).matchAll(/\d+/g)) steps.push(Number(index[0]));
  }
  return steps;
}

function own(value: Json | undefined, step: Step): Json | undefined {
  if (typeof step === 'number') return Array.isArray(value) ? value[step] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}

/** Sets an own key, also one with a special meaning in JavaScript. */
export function put(target: JsonObject | Json[], step: Step, value: Json): void {
  Object.defineProperty(target, step, { value, enumerable: true, configurable: true, writable: true });
}

const illegal = (path: string): Error => new Error(`illegal path: ${path}`);

/**
 * Returns the value at a dotted path. Nested values take precedence over a key with dots in its name.
 * @throws Error "illegal path: P" when there is none.
 */
export function readPath(dict: JsonObject, path: string): Json {
  let value: Json | undefined = dict;
  for (const step of stepsOf(path) ?? [path]) value = own(value, step);
  if (value === undefined) value = own(dict, path);
  if (value === undefined) throw illegal(path);
  return value;
}

/**
 * Sets the value at a dotted path and creates missing dictionaries on the way.
 * @throws Error "illegal path: P" when the path leads through another kind of value, or past the end of a list.
 */
export function writePath(dict: JsonObject, path: string, value: Json): void {
  const steps = stepsOf(path) ?? [path];
  let target: Json = dict;
  for (const [i, step] of steps.entries()) {
    const fits: boolean =
      typeof step === 'number' ? Array.isArray(target) && step < target.length : isJsonObject(target);
    if (!fits) throw illegal(path);
    const holder = target as JsonObject | Json[];
    if (i === steps.length - 1) {
      put(holder, step, value);
      return;
    }
    let next = own(holder, step);
    if (next === undefined) {
      next = {};
      put(holder, step, next);
    }
    target = next;
  }
}
