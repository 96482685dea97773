import { z } from 'zod';
import { defineMessage } from '../message';

/** Passwords, tokens, roles or memberships changed: cached principals of the user (empty: everybody) are void. */
export const credentialsChanged = defineMessage(
  'identity.credentials-changed.v1',
  'fanout',
  z.object({ username: z.string() }),
);

/** What a tenant may have at most was changed: whoever holds it to that reads the limits anew. */
export const quotaChanged = defineMessage(
  'identity.quota-changed.v1',
  'fanout',
  z.object({ tenant: z.string() }),
);
