/** Tokens: credentials of programs. Only the answer that creates a token contains its secret. */
import type { Client, Schemas } from '@baton/client';
import { queryOptions } from '@tanstack/react-query';
import { listOf } from './lists';
import { pageOf } from './pages';

const FIELDS = ['id', 'username', 'role', 'description', 'expiration_date', 'last_used'] as const;
export type TokenRow = Pick<Schemas['Token'], (typeof FIELDS)[number]>;

export const tokenList = listOf<TokenRow>('tokens', 'listTokens', FIELDS);

/** Most tokens of one user that are shown together. */
const MOST = 200;

/** Tokens of another user, newest first. */
export const tokensOfQuery = (client: Client, tenant: string, username: string) =>
  queryOptions({
    queryKey: ['tokens', tenant, 'of', username],
    queryFn: async ({ signal }): Promise<TokenRow[]> =>
      pageOf<TokenRow>(
        await client.call('listTokens', {
          tenant,
          signal,
          query: { username, _include: FIELDS.join(','), _sort: ['-created_at', 'id'], _size: MOST },
        }),
      ).items,
  });
