import type { Value } from './values';

/** A filter or method: the value, its arguments, and those with names. */
export type Apply = (value: Value, args: Value[], named: Readonly<Record<string, Value>>) => Value;
