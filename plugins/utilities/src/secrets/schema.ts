import type { NodeScope } from '@baton/plugin-sdk';
import * as z from 'zod';

const PLACE = {
  variant: z.string().optional().describe('Stands behind each key, after the separator'),
  separator: z.string().optional().describe('Between key and variant. Default: __'),
};

export const WRITER = z.object({
  entries: z.any().default({}).describe('Values by key. Lists and dictionaries are kept as JSON'),
  do_not_delete: z.boolean().default(false).describe('Leave the secrets when the node is deleted'),
  ...PLACE,
  logs_secrets: z.boolean().default(false).describe('Has no effect: a secret is never logged'),
  update_if_exists: z.boolean().default(false).describe('Give secrets that exist the new value'),
});

export const READER = z.object({
  keys: z.any().default([]).describe('Keys of the secrets'),
  ...PLACE,
  by_reference: z
    .boolean()
    .default(false)
    .describe(
      'Keep the function get_secret in place of each value, so that runtime properties hold no secret',
    ),
});

/** What is known about a secret; `value` only by a reader. */
export const RUNTIME = z.object({
  data: z.record(z.string(), z.unknown()),
  do_not_delete: z.boolean(),
});

export type WriterScope = NodeScope<typeof WRITER, typeof RUNTIME>;
export type ReaderScope = NodeScope<typeof READER, typeof RUNTIME>;

const SEPARATOR = '__';

/** The name of a secret. */
export const nameOf = (
  key: string,
  { variant, separator = SEPARATOR }: { variant?: string; separator?: string },
): string => (variant ? `${key}${separator}${variant}` : key);
