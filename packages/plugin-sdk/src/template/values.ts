import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import { isFalsy, pythonText } from './python-text';

/** A value of an expression; undefined is a name or key that does not exist. */
export type Value = Json | undefined;
type Call = (value: Value, args: Value[]) => Value;

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

function lengthOf(value: Value): number {
  return iterate(value).length;
}

const text = (value: Value): string => toText(value);
const capitalize = (s: string): string => s.slice(0, 1).toUpperCase() + s.slice(1).toLowerCase();

/** Filters by their names in Jinja. */
export const filters: Readonly<Record<string, Call>> = {
  default: (v, [otherwise = '', isAlsoForFalse]) =>
    v === undefined || (isTrue(isAlsoForFalse) && !isTrue(v)) ? otherwise : v,
  d: (v, args) => (filters.default as Call)(v, args),
  upper: (v) => text(v).toUpperCase(),
  lower: (v) => text(v).toLowerCase(),
  capitalize: (v) => capitalize(text(v)),
  title: (v) => text(v).replace(/\p{L}+/gu, capitalize),
  trim: (v) => text(v).trim(),
  replace: (v, [from, to]) => text(v).replaceAll(text(from), text(to)),
  join: (v, [by = '']) => iterate(v).map(text).join(text(by)),
  length: lengthOf,
  count: lengthOf,
  first: (v) => iterate(v)[0],
  last: (v) => iterate(v).at(-1),
  list: (v) => iterate(v),
  unique: (v) => [...new Map(iterate(v).map((one) => [JSON.stringify(one), one])).values()],
  sort: (v) =>
    [...iterate(v)].sort((a, b) => ((a as never) > (b as never) ? 1 : (a as never) < (b as never) ? -1 : 0)),
  reverse: (v) => [...iterate(v)].reverse(),
  int: (v, [otherwise = 0]) =>
    Number.isFinite(Number.parseInt(text(v), 10)) ? Number.parseInt(text(v), 10) : otherwise,
  float: (v, [otherwise = 0]) =>
    Number.isFinite(Number.parseFloat(text(v))) ? Number.parseFloat(text(v)) : otherwise,
  string: text,
  tojson: (v) => JSON.stringify(v ?? null),
  indent: (v, [width = 4]) => text(v).replaceAll('\n', `\n${' '.repeat(Math.min(Number(width), 100))}`),
  items: (v) => (isJsonObject(v) ? (Object.entries(v) as Json) : []),
};

/** Methods that templates written for Python call. */
export const methods: Readonly<Record<string, Call>> = {
  items: (v) => (isJsonObject(v) ? (Object.entries(v) as Json) : []),
  keys: (v) => (isJsonObject(v) ? Object.keys(v) : []),
  values: (v) => (isJsonObject(v) ? Object.values(v) : []),
  get: (v, [key, otherwise = null]) => memberOf(v as JsonObject, key) ?? otherwise,
  upper: (v) => text(v).toUpperCase(),
  lower: (v) => text(v).toLowerCase(),
  strip: (v) => text(v).trim(),
  split: (v, [by]) => (by === undefined ? text(v).trim().split(/\s+/) : text(v).split(text(by))),
  join: (v, [list]) => iterate(list).map(text).join(text(v)),
  replace: (v, [from, to]) => text(v).replaceAll(text(from), text(to)),
  startswith: (v, [start]) => text(v).startsWith(text(start)),
  endswith: (v, [end]) => text(v).endsWith(text(end)),
};

export const tests: Readonly<Record<string, (value: Value) => boolean>> = {
  defined: (v) => v !== undefined,
  undefined: (v) => v === undefined,
  none: (v) => v === null,
  string: (v) => typeof v === 'string',
  number: (v) => typeof v === 'number',
  mapping: (v) => isJsonObject(v),
  sequence: (v) => Array.isArray(v) || typeof v === 'string',
  iterable: (v) => Array.isArray(v) || typeof v === 'string' || isJsonObject(v),
  odd: (v) => Number(v) % 2 === 1,
  even: (v) => Number(v) % 2 === 0,
};
