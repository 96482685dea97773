import { isJsonObject, type Json } from '@baton/kernel';
import { isFunction } from './registry';

/** Result of following a path into a value. */
export type Walked =
  | { kind: 'value'; value: Json }
  /** A function is on the way: it must be evaluated before `rest` can be followed. */
  | { kind: 'function'; value: Json; rest: Json[] }
  | { kind: 'fault'; at: Json; reason: 'missing key' | 'not an index' | 'out of range' | 'no container' };

/** Follows keys and indexes into a value. */
export function walkPath(value: Json, path: readonly Json[]): Walked {
  let current = value;
  for (let i = 0; i < path.length; i++) {
    const step = path[i]!;
    if (isFunction(current)) return { kind: 'function', value: current, rest: path.slice(i) };
    if (Array.isArray(current)) {
      const index = typeof step === 'boolean' ? Number(step) : step;
      if (typeof index !== 'number' || !Number.isInteger(index))
        return { kind: 'fault', at: step, reason: 'not an index' };
      const item = current.at(index);
      if (item === undefined) return { kind: 'fault', at: step, reason: 'out of range' };
      current = item;
    } else if (isJsonObject(current)) {
      const key = typeof step === 'string' ? step : String(step);
      if (!Object.hasOwn(current, key)) return { kind: 'fault', at: step, reason: 'missing key' };
      current = current[key]!;
    } else return { kind: 'fault', at: step, reason: 'no container' };
  }
  return { kind: 'value', value: current };
}

/** Returns a path as text for people. */
export function pathText(path: readonly Json[]): string {
  return path.map((p) => (typeof p === 'string' ? p : JSON.stringify(p))).join('.');
}
