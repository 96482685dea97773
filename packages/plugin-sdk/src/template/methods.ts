import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import type { Apply } from './apply';
import { braceFormat, joined, replaced } from './format-text';
import { iterate, memberOf, toText, type Value } from './values';

const text = (value: Value): string => toText(value);
const items = (value: Value): Json[] => (isJsonObject(value) ? (Object.entries(value) as Json[]) : []);

/** Takes these characters off both ends, or one; without characters: white space. */
function stripped(value: string, characters: Value, ends: 'both' | 'start' | 'end'): string {
  const off = typeof characters === 'string' ? new Set(characters) : null;
  const isOff = (one: string | undefined): boolean =>
    one !== undefined && (off === null ? one.trim() === '' : off.has(one));
  let [from, to] = [0, value.length];
  while (ends !== 'end' && from < to && isOff(value[from])) from++;
  while (ends !== 'start' && to > from && isOff(value[to - 1])) to--;
  return value.slice(from, to);
}

/** Methods that templates written for Python call. */
export const methods: Readonly<Record<string, Apply>> = {
  items: (v) => items(v),
  keys: (v) => (isJsonObject(v) ? Object.keys(v) : []),
  values: (v) => (isJsonObject(v) ? Object.values(v) : []),
  get: (v, [key, otherwise = null]) => memberOf(v as JsonObject, key) ?? otherwise,
  upper: (v) => text(v).toUpperCase(),
  lower: (v) => text(v).toLowerCase(),
  title: (v) => text(v).replace(/\p{L}+/gu, (word) => word[0]!.toUpperCase() + word.slice(1).toLowerCase()),
  capitalize: (v) => text(v).slice(0, 1).toUpperCase() + text(v).slice(1).toLowerCase(),
  strip: (v, [characters]) => stripped(text(v), characters, 'both'),
  lstrip: (v, [characters]) => stripped(text(v), characters, 'start'),
  rstrip: (v, [characters]) => stripped(text(v), characters, 'end'),
  split: (v, [by, most]) => split(text(v), by, most),
  splitlines: (v) => text(v).split(/\r?\n/),
  join: (v, [list]) => joined(iterate(list).map(text), text(v)),
  replace: (v, [from, to]) => replaced(text(v), text(from), text(to)),
  startswith: (v, [start]) => text(v).startsWith(text(start)),
  endswith: (v, [end]) => text(v).endsWith(text(end)),
  find: (v, [part]) => text(v).indexOf(text(part)),
  count: (v, [part]) =>
    Array.isArray(v)
      ? v.filter((one) => JSON.stringify(one) === JSON.stringify(part)).length
      : text(v).split(text(part)).length - 1,
  isdigit: (v) => /^\d+$/.test(text(v)),
  zfill: (v, [width]) => text(v).padStart(Math.min(Number(width), 1000), '0'),
  format: (v, args, named) => braceFormat(text(v), args, named),
};

function split(value: string, by: Value, most: Value): Json {
  if (by === undefined || by === null) return value.trim() === '' ? [] : value.trim().split(/\s+/);
  const parts = value.split(text(by));
  const limit = typeof most === 'number' && most >= 0 ? most : parts.length;
  return parts.length <= limit + 1 ? parts : [...parts.slice(0, limit), parts.slice(limit).join(text(by))];
}
