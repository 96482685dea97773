import { isJsonObject, type Json } from '@baton/kernel';
import type { Apply } from './apply';
import { MAX_WEIGHT, requireWeight } from './bounds';
import { joined, percentFormat, replaced } from './format-text';
import { tests } from './tests';
import { TemplateError } from './tokens';
import { isTrue, iterate, memberOf, toText, type Value } from './values';
import { toXml } from './xml';

const text = (value: Value): string => toText(value);
const capitalize = (s: string): string => s.slice(0, 1).toUpperCase() + s.slice(1).toLowerCase();
const lengthOf: Apply = (value) => iterate(value).length;
const numbers = (value: Value): number[] => iterate(value).map(Number);

const rank = (a: Value, b: Value): number =>
  (a as never) > (b as never) ? 1 : (a as never) < (b as never) ? -1 : 0;
/** Texts are sorted without regard to case, unless asked for. */
const folded = (value: Value, isSensitive: Value): Value =>
  typeof value === 'string' && !isTrue(isSensitive) ? value.toLowerCase() : value;

/** The value at a path of names with dots. */
const attribute = (value: Value, path: Value): Value =>
  path === undefined
    ? value
    : text(path)
        .split('.')
        .reduce<Value>((at, key) => memberOf(at, /^\d+$/.test(key) ? Number(key) : key), value);

function sorted(
  value: Value,
  { attribute: by, reverse, case_sensitive: isSensitive }: Readonly<Record<string, Value>>,
): Json[] {
  const key = (one: Value): Value => folded(attribute(one, by), isSensitive);
  const made = [...iterate(value)].sort((a, b) => rank(key(a), key(b)));
  return isTrue(reverse) ? made.reverse() : made;
}

/** `map('upper')` or `map(attribute='name')`. */
const map: Apply = (value, [name, ...args], named) => {
  if (named.attribute !== undefined)
    return iterate(value).map((one) => attribute(one, named.attribute) ?? named.default ?? null);
  const filter = Object.hasOwn(filters, text(name)) ? filters[text(name)] : undefined;
  if (filter === undefined || !CHEAP.has(text(name)))
    throw new TemplateError(`map knows no filter "${text(name)}"`, 0);
  return iterate(value).map((one) => filter(one, args, {}) ?? null);
};
/** Filters that map may call: none of them goes over a list, so nested ones stay short. */
const CHEAP = new Set([
  ...[
    'upper',
    'lower',
    'capitalize',
    'title',
    'trim',
    'replace',
    'length',
    'count',
    'first',
    'last',
    'int',
    'float',
  ],
  ...['string', 'tojson', 'default', 'd', 'abs', 'round', 'urlencode', 'escape', 'e', 'format'],
]);

/** select, reject, selectattr and rejectattr. */
const choose =
  (isWanted: boolean, hasAttribute: boolean): Apply =>
  (value, args) => {
    const [name, argument] = hasAttribute ? args.slice(1) : args;
    const test =
      name === undefined ? isTrue : Object.hasOwn(tests, text(name)) ? tests[text(name)] : undefined;
    if (test === undefined) throw new TemplateError(`no test "${text(name)}"`, 0);
    return iterate(value).filter(
      (one) => test(hasAttribute ? attribute(one, args[0]) : one, argument) === isWanted,
    );
  };

/** Lists of at most `size`; the last one is filled up when there is something to fill it with. */
const batch: Apply = (value, [size, fill]) => {
  const [all, count] = [iterate(value), Math.max(1, Number(size))];
  const rows: Json[][] = [];
  for (let at = 0; at < all.length; at += count) rows.push(all.slice(at, at + count));
  const last = rows.at(-1);
  if (last !== undefined && fill !== undefined) {
    requireWeight(count);
    while (last.length < count) last.push(fill);
  }
  return rows;
};

const indent: Apply = (value, [width = 4, first], named) => {
  const by = ' '.repeat(Math.min(Number(named.width ?? width) || 0, 100));
  const lines = replaced(text(value), '\n', `\n${by}`);
  return isTrue(named.first ?? first) ? by + lines : lines;
};

const round: Apply = (value, [digits = 0, method = 'common']) => {
  const by = 10 ** Math.min(Math.max(Number(digits), -15), 15);
  const way = method === 'floor' ? Math.floor : method === 'ceil' ? Math.ceil : Math.round;
  return way(Number(value) * by) / by;
};

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
};
const escaped: Apply = (value) => {
  requireWeight(text(value).length);
  return text(value).replace(/[&<>"']/g, (one) => ESCAPES[one]!);
};

const urlencode: Apply = (value) => {
  const encode = (one: Value): string => encodeURIComponent(text(one)).replace(/%2F/g, '/');
  if (!isJsonObject(value)) return encode(value);
  return joined(
    Object.entries(value).map(
      ([name, one]) => `${encodeURIComponent(name)}=${encodeURIComponent(text(one))}`,
    ),
    '&',
  );
};

const truncate: Apply = (value, [length = 255, killwords, end = '...']) => {
  const whole = text(value);
  const most = Math.min(Number(length), MAX_WEIGHT);
  if (whole.length <= most + 5) return whole;
  const cut = whole.slice(0, Math.max(0, most - text(end).length));
  return (isTrue(killwords) ? cut : cut.replace(/\s+\S*$/, '')) + text(end);
};

const asNumber = (value: Value, otherwise: Value, parse: (s: string) => number): Value =>
  Number.isFinite(parse(text(value))) ? parse(text(value)) : otherwise;

/** Filters by their names in Jinja; `toxml` is one of the utilities plugin. */
export const filters: Readonly<Record<string, Apply>> = {
  default: (v, [otherwise = '', isAlsoForFalse], named) =>
    v === undefined || (isTrue(named.boolean ?? isAlsoForFalse) && !isTrue(v)) ? otherwise : v,
  d: (v, args, named) => (filters.default as Apply)(v, args, named),
  upper: (v) => text(v).toUpperCase(),
  lower: (v) => text(v).toLowerCase(),
  capitalize: (v) => capitalize(text(v)),
  title: (v) => text(v).replace(/\p{L}+/gu, capitalize),
  trim: (v) => text(v).trim(),
  replace: (v, [from, to]) => replaced(text(v), text(from), text(to)),
  join: (v, [by = '', of], named) =>
    joined(
      iterate(v).map((one) => text(attribute(one, named.attribute ?? of))),
      text(named.d ?? by),
    ),
  length: lengthOf,
  count: lengthOf,
  wordcount: (v) => text(v).split(/\s+/).filter(Boolean).length,
  first: (v) => iterate(v)[0],
  last: (v) => iterate(v).at(-1),
  list: (v) => iterate(v),
  unique: (v) => [...new Map(iterate(v).map((one) => [JSON.stringify(one), one])).values()],
  sort: (v, [reverse, isSensitive], named) => sorted(v, { reverse, case_sensitive: isSensitive, ...named }),
  dictsort: (v, _, named) =>
    isJsonObject(v) ? sorted(Object.entries(v) as Json, { attribute: '0', ...named }) : [],
  reverse: (v) => (typeof v === 'string' ? [...v].reverse().join('') : [...iterate(v)].reverse()),
  map,
  select: choose(true, false),
  reject: choose(false, false),
  selectattr: choose(true, true),
  rejectattr: choose(false, true),
  batch,
  sum: (v, [by], named) =>
    iterate(v).reduce<number>((all, one) => all + Number(attribute(one, named.attribute ?? by)), 0),
  min: (v) => (iterate(v).length === 0 ? undefined : numbers(v).reduce((a, b) => Math.min(a, b))),
  max: (v) => (iterate(v).length === 0 ? undefined : numbers(v).reduce((a, b) => Math.max(a, b))),
  abs: (v) => Math.abs(Number(v)),
  round,
  int: (v, [otherwise = 0, base = 10]) => asNumber(v, otherwise, (s) => Number.parseInt(s, Number(base))),
  float: (v, [otherwise = 0]) => asNumber(v, otherwise, Number.parseFloat),
  string: text,
  tojson: (v, [width], named) =>
    JSON.stringify(v ?? null, null, Math.min(Number(named.indent ?? width ?? 0), 10)),
  toxml: (v) => toXml(v),
  indent,
  escape: escaped,
  e: (v, args, named) => escaped(v, args, named),
  safe: (v) => v,
  urlencode,
  truncate,
  format: (v, args) => percentFormat(text(v), args),
  items: (v) => (isJsonObject(v) ? (Object.entries(v) as Json) : []),
};
