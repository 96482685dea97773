import { isNetwork } from '@baton/http';
import { Secret } from '@baton/kernel';
import { envValue, runtimeConfig } from '@baton/service-runtime';
import { z } from 'zod';

const KEY_LENGTH = 32;

export const configSchema = runtimeConfig.extend({
  BATON_SECRETS_KEY: envValue
    .secret(KEY_LENGTH)
    .optional()
    .describe('Master key of the secrets, at least 32 characters; goes before the key file'),
  BATON_SECRETS_KEY_FILE: z
    .string()
    .default('.baton/secrets.key')
    .describe('File with the master key of the secrets; made with a random key when it is missing'),
  BATON_SECRETS_OLD_KEYS: z
    .string()
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((t) => t.trim())
        .filter((t) => t !== ''),
    )
    .refine(
      (keys) => keys.every((k) => k.length >= KEY_LENGTH),
      `each must have at least ${KEY_LENGTH} characters`,
    )
    .transform((keys) => keys.map((k) => new Secret(k)))
    .describe(
      'Former master keys, separated by commas: values under them stay readable and are moved to the current key',
    ),
  BATON_SECRETS_PROVIDER_ALLOW: z
    .string()
    .default('')
    .transform((text) => text.split(',').flatMap((part) => part.trim() || []))
    .refine(
      (networks) => networks.every(isNetwork),
      'must be addresses or CIDR networks, separated by commas',
    )
    .describe(
      'Networks inside the installation that secrets providers may be in, as CIDR, separated by commas; public addresses may always',
    ),
});

export type Config = Readonly<z.output<typeof configSchema>>;
