import { isObject, type Value, type ValueObject } from '../value';

/** How one field of an item is read. `fill` is its value where an archive has none. */
export interface Field<T> {
  /** What is expected, for messages: `a text`. */
  expected: string;
  /** Undefined: the field must be there. */
  fill?: T;
  /** Returns undefined for a value that is not what is expected. */
  read(value: Value): T | undefined;
}

const field = <T>(expected: string, read: (value: Value) => T | undefined): Field<T> => ({ expected, read });

/** The field may be absent; then it is `fill`. */
export const filled = <T>(inner: Field<T>, fill: T): Field<T> => ({ ...inner, fill });

/** The field may be absent or null; then it is null. So is an empty text, where `inner` is nothing that may be empty. */
export const orNull = <T>(inner: Field<T>): Field<T | null> => ({
  expected: `${inner.expected} or null`,
  fill: null,
  read: (value) =>
    value === null || (value === '' && inner.read('') === undefined) ? null : inner.read(value),
});

/** The field may be absent or null; then it is `fill`. */
export const or = <T>(inner: Field<T>, fill: T): Field<T> => ({
  expected: `${inner.expected} or null`,
  fill,
  read: (value) => (value === null ? fill : inner.read(value)),
});

export const text = field<string>('a text', (value) => (typeof value === 'string' ? value : undefined));
/** A name or id: not empty, and of at most 1024 characters. */
export const name = field<string>('a name of 1 to 1024 characters', (value) =>
  typeof value === 'string' && value.length > 0 && value.length <= 1024 ? value : undefined,
);
export const boolean = field<boolean>('true or false', (value) =>
  typeof value === 'boolean' ? value : undefined,
);
export const integer = field<number>('a whole number', (value) =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined,
);
export const json = field<Value>('a value', (value) => value);
export const object = field<ValueObject>('an object', (value) => (isObject(value) ? value : undefined));
export const list = field<Value[]>('a list', (value) => (Array.isArray(value) ? value : undefined));
export const names = field<string[]>('a list of names', (value) =>
  Array.isArray(value) && value.every((one) => typeof one === 'string') ? (value as string[]) : undefined,
);
/** Names by name, such as roles by tenant. */
export const namesByName = field<Record<string, string>>('names by name', (value) =>
  isObject(value) && Object.values(value).every((one) => typeof one === 'string')
    ? (value as Record<string, string>)
    : undefined,
);

const INSTANT =
  /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:\.(\d{1,6})\d{0,3})?\s*(Z|[+-]\d\d(?::?\d\d)?)?$/;

/**
 * A moment in UTC, as `2026-11-20T17:05:37.692Z`, with microseconds where the archive has them. Archives write it so, or as
 * PostgreSQL does: `2026-11-20 17:05:37.692+00`; without a zone it is UTC.
 */
export const instant = field<string>('a time', (value) => {
  const found = typeof value === 'string' ? INSTANT.exec(value) : null;
  if (!found) return undefined;
  const [, day, clock, fraction = '', zone = 'Z'] = found;
  const digits = zone.replace(/\D/g, '').padEnd(4, '0');
  const offset = zone === 'Z' ? 'Z' : `${zone[0]}${digits.slice(0, 2)}:${digits.slice(2)}`;
  const time = Date.parse(`${day}T${clock}${offset}`);
  if (Number.isNaN(time)) return undefined;
  return new Date(time).toISOString().replace('000Z', `${fraction.padEnd(3, '0')}Z`);
});

export interface Label {
  key: string;
  value: string;
  created_at: string | null;
  created_by: string | null;
}

/** Labels of an object; a label without a time is as old as its object. */
export const labels = field<Label[]>('a list of labels', (value) => {
  if (!Array.isArray(value)) return undefined;
  const read = value.map((one) => (isObject(one) ? labelOf(one) : undefined));
  return read.every((one) => one !== undefined) ? (read as Label[]) : undefined;
});

function labelOf(value: ValueObject): Label | undefined {
  const { key, value: content, created_at: time, created_by: user } = value;
  if (typeof key !== 'string' || typeof content !== 'string') return undefined;
  const at = typeof time === 'string' ? (instant.read(time) ?? null) : null;
  return { key, value: content, created_at: at, created_by: typeof user === 'string' ? user : null };
}
