import type { Json } from '@baton/kernel';
import type { z } from 'zod';

const KEY = 'batonDefaultFrom';

/**
 * Gives an input a default that the language computes for each node: a function such as `{ get_property: [SELF, tags] }`. In plugin.yaml
 * the input has no type then; the operation checks the computed value.
 */
export function defaultFrom<S extends z.ZodType>(schema: S, value: Record<string, Json>): S {
  return schema.meta({ ...schema.meta(), [KEY]: value });
}

/** The function that `defaultFrom` gave; undefined: none. */
export const givenDefault = (schema: z.ZodType): Json | undefined => schema.meta()?.[KEY] as Json | undefined;
