/** States of node instances at a moment of an execution. */
import type { Client } from '@baton/client';
import { queryOptions } from '@tanstack/react-query';
import { executionKeys } from './executions';

/** A number above every event number: the answer then contains the number of the last event. */
const BEHIND_ALL = '999999999999999';

/** Reads the states at event number `at`; null: at the last event. Past states never change, so they are cached. */
export const topologyStatesQuery = (client: Client, tenant: string, id: string, at: string | null) =>
  queryOptions({
    queryKey: at === null ? [...executionKeys.one(tenant, id), 'states'] : ['replay', tenant, id, at],
    queryFn: ({ signal }) =>
      client.call('getTopologyStates', {
        tenant,
        signal,
        params: { executionId: id },
        query: { at: at ?? BEHIND_ALL },
      }),
    staleTime: at === null ? 0 : Number.POSITIVE_INFINITY,
    placeholderData: (before) => before,
  });
