import { isJsonObject } from '@baton/kernel';
import { contains, isTrue, toText, type Value } from './values';

type Test = (value: Value, argument?: Value) => boolean;

const isEqual = (a: Value, b: Value): boolean => JSON.stringify(a) === JSON.stringify(b);
const isNumber = (value: Value): value is number => typeof value === 'number';

/** Tests by their names in Jinja. */
export const tests: Readonly<Record<string, Test>> = {
  defined: (v) => v !== undefined,
  undefined: (v) => v === undefined,
  none: (v) => v === null,
  string: (v) => typeof v === 'string',
  number: isNumber,
  integer: (v) => Number.isInteger(v),
  float: (v) => isNumber(v) && !Number.isInteger(v),
  boolean: (v) => typeof v === 'boolean',
  true: (v) => v === true,
  false: (v) => v === false,
  mapping: (v) => isJsonObject(v),
  sequence: (v) => Array.isArray(v) || typeof v === 'string',
  iterable: (v) => Array.isArray(v) || typeof v === 'string' || isJsonObject(v),
  odd: (v) => Math.abs(Number(v)) % 2 === 1,
  even: (v) => Number(v) % 2 === 0,
  divisibleby: (v, by) => Number(v) % Number(by) === 0,
  lower: (v) => toText(v) === toText(v).toLowerCase(),
  upper: (v) => toText(v) === toText(v).toUpperCase(),
  in: (v, holder) => contains(holder, v),
  eq: isEqual,
  equalto: isEqual,
  sameas: isEqual,
  ne: (a, b) => !isEqual(a, b),
  gt: (a, b) => (a as number) > (b as number),
  ge: (a, b) => (a as number) >= (b as number),
  lt: (a, b) => (a as number) < (b as number),
  le: (a, b) => (a as number) <= (b as number),
  truthy: isTrue,
};
