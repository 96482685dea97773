/** Creates and connects the parts of the application. No other file does this. */
import type { Client } from '@baton/client';
import { QueryCache, QueryClient } from '@tanstack/react-query';
import { createOwnClient } from './api/client';
import { isSignedOut } from './api/problem';
import { SESSION_KEY } from './api/session';
import { createApplier } from './live/apply-changes';
import { createLive, type Live } from './live/live';

export interface Wiring {
  cache: QueryClient;
  client: Client;
  live: Live;
}

/** The stream keeps data fresh. Only when the user returns to a screen are data older than this reloaded. */
const FRESH_MS = 30_000;

export function wire(): Wiring {
  const client = createOwnClient();
  const leave = (): void => {
    cache.setQueryData(SESSION_KEY, null);
  };
  const cache: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      onError: (error) => {
        if (isSignedOut(error)) leave();
      },
    }),
    // The client itself retries requests after a broken connection.
    defaultOptions: { queries: { retry: false, staleTime: FRESH_MS }, mutations: { retry: false } },
  });
  const live = createLive({
    createClient: createOwnClient,
    onChanges: createApplier(cache, client),
    onReset: (tenant) =>
      void cache.invalidateQueries({
        predicate: ({ queryKey: [kind, ofTenant] }) => kind !== SESSION_KEY[0] && ofTenant === tenant,
      }),
    onSignedOut: leave,
  });
  return { cache, client, live };
}
