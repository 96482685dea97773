import { Secret } from '@baton/kernel';
import { runtimeConfig } from '@baton/service-runtime';
import { z } from 'zod';

export const configSchema = runtimeConfig.extend({
  BATON_ADMIN_PASSWORD: z
    .string()
    .min(5, 'must have at least 5 characters')
    .max(256)
    .transform((text) => new Secret(text))
    .optional()
    .describe('Password of `admin` at the first start; without it one is generated and printed once'),
  BATON_FAILED_LOGINS_BEFORE_ACCOUNT_LOCK: z.coerce
    .number()
    .int()
    .min(1)
    .prefault(4)
    .describe('An account is locked when more logins than this failed in a row'),
  BATON_ACCOUNT_LOCK_PERIOD: z.coerce
    .number()
    .min(-1)
    .prefault(-1)
    .describe('Minutes that a lock lasts after the last failed login; -1: accounts are never locked'),
  BATON_CREDENTIAL_CACHE_MS: z.coerce
    .number()
    .int()
    .min(0)
    .max(60_000)
    .prefault(1_000)
    .describe(
      'Longest time in ms that gateways trust a credential after it changed, should the message about it be lost',
    ),
});

export type Config = Readonly<z.output<typeof configSchema>>;
