import { isNetwork } from '@baton/http';
import { Secret } from '@baton/kernel';
import { envValue, runtimeConfig } from '@baton/service-runtime';
import { z } from 'zod';

/**
 * Durations below one minute are refused: uses of a session are written only every few seconds, and gateways cache a session for a
 * second.
 */
const isMinute = (ms: number): boolean => ms >= 60_000;
const MINUTE = 'must be at least 1m';

const LONGEST_TOKEN_MS = 366 * 86_400_000;

const most = () => envValue.integer(0, Number.MAX_SAFE_INTEGER).prefault('0');

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
  BATON_SESSION_LIFE: envValue
    .durationMs()
    .refine(isMinute, MINUTE)
    .prefault('12h')
    .describe("Time after which a browser's session ends, however much it is used"),
  BATON_SESSION_IDLE: envValue
    .durationMs()
    .refine(isMinute, MINUTE)
    .prefault('2h')
    .describe("Time without a request after which a browser's session ends"),
  BATON_DEVICE_TOKEN_LIFE: envValue
    .durationMs()
    .refine(isMinute, MINUTE)
    .refine((ms) => ms <= LONGEST_TOKEN_MS, 'must be at most 366d')
    .prefault('30d')
    .describe(
      'Life of the token that a program gets when a person approves its login, as by `baton login --device`',
    ),
  BATON_LOGIN_PROVIDER_ALLOW: z
    .string()
    .default('')
    .transform((text) => text.split(',').flatMap((part) => part.trim() || []))
    .refine(
      (networks) => networks.every(isNetwork),
      'must be addresses or CIDR networks, separated by commas',
    )
    .describe(
      'Networks inside the installation that identity providers may be in, as CIDR, separated by commas; public addresses may always',
    ),
  BATON_TENANT_MAX_DEPLOYMENTS: most().describe(
    'Most deployments of one tenant; 0: no limit. PUT /tenants/{name}/quota sets another number for a tenant, here and below',
  ),
  BATON_TENANT_MAX_RUNNING_EXECUTIONS: most().describe(
    'Most executions of one tenant at work at once, without those that another execution waits for; further ones are queued; 0: no limit',
  ),
  BATON_TENANT_MAX_QUEUED_EXECUTIONS: most().describe(
    'Most executions of one tenant that wait for their turn or their time; more get 429; 0: no limit',
  ),
  BATON_TENANT_MAX_STORAGE_BYTES: most().describe(
    'Most bytes of blueprint archives, plugins and written files of one tenant; more get 507; 0: no limit',
  ),
  BATON_TENANT_MAX_REQUESTS: most().describe(
    'Most requests of one tenant a minute, over all gateways with one Redis, through each gateway without; administrators are not counted; 0: no limit',
  ),
});

export type Config = Readonly<z.output<typeof configSchema>>;
