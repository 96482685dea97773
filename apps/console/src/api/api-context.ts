/** Gives screens the API client and the stream of changes. */
import type { Client } from '@baton/client';
import { useQuery } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import type { Live } from '../live/live';
import { permissionsQuery } from './session';

export interface Api {
  client: Client;
  live: Live;
}

export const ApiContext = createContext<Api | null>(null);
/** The tenant of the current screens. */
export const TenantContext = createContext<string>('');

/** Returns the API. @throws Error outside of the application: a programming error */
export function useApi(): Api {
  const api = useContext(ApiContext);
  if (!api) throw new Error('useApi outside of ApiContext');
  return api;
}

export const useTenant = (): string => useContext(TenantContext);

/**
 * Returns a function that tells whether the user has a permission here. When the manager does not report permissions, every
 * action is offered: the manager checks each request anyway.
 * `untilKnown`: the result before the permissions have loaded.
 */
export function useMay(untilKnown = false): (permission: string) => boolean {
  const { client } = useApi();
  const { data, isPending } = useQuery(permissionsQuery(client, useTenant()));
  // Nothing is offered that would disappear a moment later.
  return (permission) => (isPending ? untilKnown : !data || data.has(permission));
}
