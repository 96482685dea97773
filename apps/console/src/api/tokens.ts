/** Tokens: credentials of programs. Only the answer that creates a token contains its secret. */
import type { Schemas } from '@baton/client';
import { listOf } from './lists';

const FIELDS = ['id', 'username', 'role', 'description', 'expiration_date', 'last_used'] as const;
export type TokenRow = Pick<Schemas['Token'], (typeof FIELDS)[number]>;

export const tokenList = listOf<TokenRow>('tokens', 'listTokens', FIELDS);
