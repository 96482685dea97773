import { setOwn, type Value, type ValueObject } from '../value';
import type { Shape } from './shape';
import { type Item, type RecordType, SHAPES } from './types';

export type Shaped<T extends RecordType> =
  | { item: Item<T>; unknown: ValueObject }
  /** A field that makes the item unusable, and what was expected of it. */
  | { problem: string; field: string };

/**
 * Brings an item into the shape of its type: absent fields get the value of the migration, fields that the shape does not know
 * are returned beside the item.
 */
export function shapeItem<T extends RecordType>(type: T, raw: ValueObject): Shaped<T> {
  const shape: Shape = SHAPES[type];
  const item: Record<string, unknown> = {};
  for (const [field, rule] of Object.entries(shape.fields)) {
    const given = Object.hasOwn(raw, field) ? raw[field] : undefined;
    if (given === undefined) {
      if (rule.fill === undefined)
        return { field, problem: `${field} is missing; expected ${rule.expected}` };
      item[field] = fresh(rule.fill);
      continue;
    }
    const value = rule.read(given);
    if (value === undefined)
      return { field, problem: `${field} is ${kindOf(given)}; expected ${rule.expected}` };
    item[field] = fresh(value);
  }
  const unknown: ValueObject = {};
  for (const [field, value] of Object.entries(raw))
    if (!Object.hasOwn(shape.fields, field) && !shape.dropped?.includes(field)) setOwn(unknown, field, value);
  return { item: item as Item<T>, unknown };
}

/** Fillings are shared by all items of a type: an empty list or object is made anew. */
const fresh = (value: unknown): unknown => {
  if (Array.isArray(value) && value.length === 0) return [];
  if (typeof value === 'object' && value !== null && Object.keys(value).length === 0) return {};
  return value;
};

/** The kind of a value for messages; the value itself may be a secret. */
function kindOf(value: Value): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  return typeof value === 'string' ? 'a text that does not fit' : `a ${typeof value}`;
}

/** What identifies an item among those of its type and tenant; null where it has no identity, or a broken one. */
export function identityOf(type: RecordType, raw: ValueObject): string | null {
  const { key }: Shape = SHAPES[type];
  const parts = key.map((field) => raw[field] ?? null);
  if (parts.length === 0 || parts.every((part) => part === null)) return null;
  return parts.length === 1 && typeof parts[0] === 'string' ? parts[0] : JSON.stringify(parts.map(String));
}
