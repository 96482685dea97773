import type { Json } from '@baton/kernel';
import type { z } from 'zod';

const KEY = 'batonDefaultFrom';

/**
 * Gives an input a default in plugin.yaml that is a function of the blueprint language, for instance `{ get_property: ['SELF', 'x'] }`.
 * The manager evaluates it. Elsewhere, and for mappings that blueprints name directly, there is no such default: make the schema
 * optional.
 */
export function defaultFrom<S extends z.ZodType>(schema: S, call: { readonly [name: string]: Json }): S {
  return schema.meta({ ...schema.meta(), [KEY]: call });
}

/** The function of the language that is the default of the schema; undefined: there is none. */
export function defaultCallOf(schema: z.ZodType): Json | undefined {
  return schema.meta()?.[KEY] as Json | undefined;
}
