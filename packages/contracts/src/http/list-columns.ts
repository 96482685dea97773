import type { z } from 'zod';

/** Kinds of values with equality and an order. */
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
 * Returns the fields by which lists of a resource are filtered and sorted: every field with a single value, as in the
 * original, which uses each column of its models (reference/rest-api.md 3.2). Documents and lists are left out: their
 * texts have no equality or order that is useful to a client. `but`: fields that are no columns.
 */
export function columnsOf(item: z.ZodObject, but: readonly string[] = []): string[] {
  return Object.entries(item.shape)
    .filter(
      ([name, schema]) => isOneValue((schema as unknown as { def: Definition }).def) && !but.includes(name),
    )
    .map(([name]) => name);
}
