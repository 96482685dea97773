/** Sign-in, session and permissions. No other file calls these routes. */
import type { Client } from '@baton/client';
import { queryOptions } from '@tanstack/react-query';
import type { Session } from './answers';
import { isSignedOut } from './problem';

export const SESSION_KEY = ['session'];

export type Credentials = { username: string; password: string } | { code: string };

/**
 * The session of the cookie; null without one. With `tenant`, the answer includes the permissions there, so that a newly opened
 * page needs only one request for its user.
 */
export const sessionQuery = (client: Client, tenant?: string) =>
  queryOptions({
    queryKey: SESSION_KEY,
    queryFn: async ({ signal, client: cache }): Promise<Session | null> => {
      try {
        const session = await client.call('getSession', { signal, query: { tenant_name: tenant } });
        if (tenant !== undefined && session.permissions)
          cache.setQueryData(permissionKey(tenant), new Set(session.permissions));
        return session;
      } catch (error) {
        if (isSignedOut(error)) return null;
        throw error;
      }
    },
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Signs in. The answer sets the session cookie, which scripts of this page cannot read. @throws ApiError */
export const signIn = (client: Client, body: Credentials): Promise<Session> =>
  client.call('openSession', { body });

export const signOut = async (client: Client): Promise<void> => {
  await client.call('closeSession');
};

/** Identity providers to sign in at; none when the manager does not tell them: the password still works. */
export const loginProvidersQuery = (client: Client) =>
  queryOptions({
    queryKey: ['login-providers'],
    queryFn: async ({ signal }) => {
      try {
        return (await client.call('listLoginProviders', { signal })).items;
      } catch {
        return [];
      }
    },
    staleTime: 60_000,
  });

/** Address that begins a sign-in at a provider and leads back to `place`, a path of the console. */
export const beginLogin = (provider: string, place: string): string =>
  `/api/v3.1/login/oidc/${encodeURIComponent(provider)}?return_to=${encodeURIComponent(place)}`;

const permissionKey = (tenant: string) => ['permissions', tenant] as const;

/**
 * Names of the user's permissions in the tenant; null when the manager does not report them. The manager then refuses by itself.
 */
export const permissionsQuery = (client: Client, tenant: string) =>
  queryOptions({
    queryKey: permissionKey(tenant),
    queryFn: async ({ signal }): Promise<ReadonlySet<string> | null> => {
      try {
        return new Set((await client.call('getOwnPermissions', { tenant, signal })).permissions);
      } catch (error) {
        if (isSignedOut(error)) throw error;
        return null;
      }
    },
    staleTime: 300_000,
  });

/**
 * Returns the one-time code of `/ui/#code=...` and removes it from the address, so that no history, bookmark or copied link keeps
 * it.
 */
export const takeSignInCode = (location: Location, history: History): string | null =>
  takeHash('code', /^[\w.~-]{8,512}$/, location, history);

/** Returns why a sign-in at a provider failed: the code of `/ui/#sign-in=<code>`, which leaves the address. */
export const takeSignInFailure = (location: Location, history: History): string | null =>
  takeHash('sign-in', /^[a-z_]{1,30}$/, location, history);

/** Returns the value of `#<name>=<value>` when it has the shape, and takes it out of the address. */
export function takeHash(name: string, shape: RegExp, location: Location, history: History): string | null {
  const prefix = `#${name}=`;
  // Read first: the location follows the history at once.
  const { hash } = location;
  if (!hash.startsWith(prefix)) return null;
  history.replaceState(history.state, '', location.pathname + location.search);
  const value = hash.slice(prefix.length);
  return shape.test(value) ? value : null;
}
