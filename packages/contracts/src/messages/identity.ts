import { z } from 'zod';
import { defineMessage } from '../message';

/** Passwords, tokens, roles or memberships changed: cached principals of the user (empty: of all users) are invalid. */
export const credentialsChanged = defineMessage(
  'identity.credentials-changed.v1',
  'fanout',
  z.object({ username: z.string() }),
);

/** The limits of a tenant changed: services that enforce them read them again. */
export const quotaChanged = defineMessage(
  'identity.quota-changed.v1',
  'fanout',
  z.object({ tenant: z.string() }),
);
