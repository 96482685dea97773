/** Theme and time zone of the user: stored by the manager. Each browser keeps a copy, to use it before the answer arrives. */
import type { Client } from '@baton/client';
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useApi } from '../api/api-context';
import { useQuiet } from '../api/use-quiet';
import { type OwnSettings, ownSettingsOf } from './own-settings';
import { changeSettings, type Settings } from './settings';

type Preferences = Record<string, unknown>;

const preferencesQuery = (client: Client) =>
  queryOptions({
    queryKey: ['preferences'],
    queryFn: ({ signal }): Promise<Preferences> => client.call('getPreferences', { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Applies preferences that the user chose in another browser; until they are loaded, the copy of this browser applies. */
export function OwnPreferences(): null {
  const { client } = useApi();
  const { data } = useQuery({ ...preferencesQuery(client), enabled: useQuiet() });
  useEffect(() => {
    if (data) changeSettings(ownSettingsOf(data));
  }, [data]);
  return null;
}

/** Changes a setting immediately in this browser, and stores it at the manager. */
export function useChoose(): { choose: (change: OwnSettings) => void; error: unknown } {
  const { client } = useApi();
  const cache = useQueryClient();
  const save = useMutation({
    mutationFn: async (change: OwnSettings): Promise<Preferences> => {
      // The request replaces all preferences: preferences of other programs must be kept.
      const before = await cache.ensureQueryData(preferencesQuery(client));
      return await client.call('setPreferences', { body: { ...before, ...change } });
    },
    onSuccess: (preferences) => cache.setQueryData(preferencesQuery(client).queryKey, preferences),
    // Requests run one after another: each starts from the result of the one before.
    scope: { id: 'preferences' },
  });
  const choose = (change: OwnSettings): void => {
    changeSettings(change as Partial<Settings>);
    save.mutate(change);
  };
  return { choose, error: save.error };
}
