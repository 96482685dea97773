import type { z } from 'zod';

/** Kinds of values that equal each other or do not, and have an order. */
const ONE_VALUE = ['string', 'number', 'boolean', 'enum'];
const WRAPPERS = ['nullable', 'optional'];

interface Definition {
  type: string;
  innerType?: { def: Definition };
}

function isOneValue({ type, innerType }: Definition): boolean {
  return WRAPPERS.includes(type) && innerType ? isOneValue(innerType.def) : ONE_VALUE.includes(type);
}

/**
 * What lists of a resource are filtered and sorted by: every field of it that is one value, as in the original, which takes
 * each column of its models (reference/rest-api.md 3.2). Documents and lists of things are none: their texts have neither an
 * equality nor an order that a client could mean. `but`: fields that stand in no table.
 */
export function columnsOf(item: z.ZodObject, but: readonly string[] = []): string[] {
  return Object.entries(item.shape)
    .filter(
      ([name, schema]) => isOneValue((schema as unknown as { def: Definition }).def) && !but.includes(name),
    )
    .map(([name]) => name);
}
