/** Schemas of environment variables: their values are text, checked and converted here. */
import { parseDurationMs, Secret } from '@baton/kernel';
import { z } from 'zod';

export const envValue = {
  /** Whole number from `min` to `max`. */
  integer: (min: number, max: number) =>
    z
      .string()
      .regex(/^-?\d+$/, 'must be a whole number')
      .transform(Number)
      .refine((n) => n >= min && n <= max, `must be from ${min} to ${max}`),
  /** `15s`, `5m`, `250ms`; milliseconds. */
  durationMs: () =>
    z
      .string()
      .regex(/^\d+(?:\.\d+)?(ms|s|m|h|d)?$/, 'must be a duration such as 250ms, 15s, 5m')
      .transform(parseDurationMs),
  flag: () =>
    z
      .string()
      .regex(/^(true|false)$/i, 'must be true or false')
      .transform((text) => text.toLowerCase() === 'true'),
  /** Any of `known`, separated by commas. */
  names: <Name extends string>(known: readonly Name[]) =>
    z.string().transform((text, context) => {
      const given = text.split(',').flatMap((name) => name.trim() || []);
      for (const name of given.filter((one) => !known.includes(one as Name)))
        context.addIssue({ code: 'custom', message: `${name}: must be one of ${known.join(', ')}` });
      return given as Name[];
    }),
  /** A text that is never printed. */
  secret: (minLength = 1) =>
    z
      .string()
      .min(minLength, `must have at least ${minLength} characters`)
      .transform((text) => new Secret(text)),
};
