import { z } from 'zod';
import { defineRoutes } from '../route';

/** What the page of the sign-in shows of a provider; nothing else of it is public. */
const loginProvider = z
  .object({
    id: z.string(),
    name: z.string(),
    type: z
      .enum(['oidc', 'ldap'])
      .describe(
        'oidc: a link leads to the provider; ldap: name and password go to POST /session as those of local users do',
      ),
  })
  .meta({ id: 'LoginProvider' });

const shared = {
  owner: 'identity',
  permission: 'none',
  tenant: 'none',
  versions: ['v3.1'],
  spec: 'Baton',
  isOpenInMaintenance: true,
} as const;

export const loginRoutes = defineRoutes([
  {
    id: 'listLoginProviders',
    method: 'GET',
    path: '/login/providers',
    ...shared,
    summary: 'Identity providers that sign users in',
    status: 200,
    response: z.object({ items: z.array(loginProvider) }),
  },
  {
    id: 'beginOidcLogin',
    method: 'GET',
    path: '/login/oidc/:provider_id',
    ...shared,
    session: 'begins',
    summary:
      'Begin a sign-in: leads the browser to the provider, and binds the attempt to the browser by a cookie',
    query: z.object({
      return_to: z.string().max(1024).optional().describe('Path of the console, which begins with /ui'),
    }),
    status: 303,
  },
  {
    id: 'endOidcLogin',
    method: 'GET',
    path: '/login/oidc/:provider_id/callback',
    ...shared,
    session: 'returns',
    summary: 'The provider leads the browser here: opens a session and leads on to the console',
    // Providers add parameters of their own, which the library judges.
    query: z.object({ state: z.string().max(256).optional() }),
    status: 303,
  },
]);
