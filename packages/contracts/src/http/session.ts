import { z } from 'zod';
import { defineRoutes } from '../route';
import { instant } from './shapes';

/** The user who is signed in by a session cookie. Only the cookie contains the secret of the session. */
const session = z
  .object({
    username: z.string(),
    role: z.string().describe('System role'),
    is_admin: z.boolean().describe('System administrator'),
    tenants: z
      .array(z.object({ name: z.string(), roles: z.array(z.string()) }))
      .describe('Tenants of the user, by name; of somebody who sees every tenant the first thousand'),
    created_at: instant,
    expires_at: instant.describe('The latest end; the session ends earlier when it is not used'),
    permissions: z
      .array(z.string())
      .optional()
      .describe(
        'What the user may do in the tenant of `tenant_name`, by name; absent without that parameter',
      ),
  })
  .meta({ id: 'Session' });
export type SessionAnswer = z.infer<typeof session>;

/** Either user name and password, or the code of a sign-in link. */
const signIn = z
  .object({
    username: z.string().max(256).optional(),
    password: z.string().max(512).optional(),
    code: z.string().max(256).optional().describe('Of the link that a standalone prints when it starts'),
  })
  .meta({ id: 'SignIn' });

const shared = {
  path: '/session',
  owner: 'identity',
  tenant: 'none',
  versions: ['v3.1'],
  spec: 'Baton',
  isOpenInMaintenance: true,
} as const;

export const sessionRoutes = defineRoutes([
  {
    id: 'openSession',
    method: 'POST',
    ...shared,
    // The credential is the body.
    permission: 'none',
    session: 'opens',
    summary: 'Sign in: the answer sets the cookie of a new session',
    body: signIn,
    isNullRefused: true,
    status: 200,
    response: session,
  },
  {
    id: 'getSession',
    method: 'GET',
    ...shared,
    permission: 'login',
    session: 'shows',
    summary: 'Who is signed in by the cookie of the request, and what that user may do in a tenant',
    query: z.object({ tenant_name: z.string().max(256).optional() }),
    status: 200,
    response: session,
  },
  {
    id: 'closeSession',
    method: 'DELETE',
    ...shared,
    permission: 'login',
    session: 'closes',
    summary: 'Sign out: ends the session of the request and takes its cookie away',
    status: 204,
  },
]);
