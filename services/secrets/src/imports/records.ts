/** What importers of secrets read of records (packages/cloudify-archive, src/model/catalog-shapes.ts). Other fields are ignored. */
import { isJsonObject, type JsonObject } from '@baton/kernel';
import { z } from 'zod';

const MAX_CHARS = 1024 * 1024;
/** As in requests: no blank, by which names of secrets and of providers are told apart when they are sealed. */
const name = z
  .string()
  .regex(
    /^[A-Za-z][A-Za-z0-9._~-]{0,255}$/,
    'must be an ASCII letter, then at most 255 letters, digits, "-", ".", "_" or "~"',
  );
const plain = z
  .string()
  .max(1024, 'must have at most 1024 characters')
  .regex(/^[^\u0000-\u001f\u007f]*$/, 'must have no control characters');
const object = z.custom<JsonObject>((value) => isJsonObject(value), 'must be an object').nullish();
/** PostgreSQL keeps no NUL in a text. */
const schema = object.refine(
  (given) => !JSON.stringify(given ?? null).includes('\\u0000'),
  'must not contain NUL',
);
const owned = {
  visibility: z.enum(['private', 'tenant', 'global']).default('tenant'),
  created_by: plain.nullish(),
  created_at: z.iso.datetime({ offset: true }).nullish(),
};

export const secretRecord = z.object({
  key: name,
  ...owned,
  value: z.string().max(MAX_CHARS, `must have at most ${MAX_CHARS} characters`).nullish(),
  schema,
  is_hidden_value: z.boolean().default(false),
  provider_name: plain.nullish(),
  provider_options: object,
});
export const providerRecord = z.object({
  name,
  ...owned,
  type: plain.nullish(),
  connection_parameters: object,
});

export type SecretRecord = z.output<typeof secretRecord>;
export type ProviderRecord = z.output<typeof providerRecord>;
