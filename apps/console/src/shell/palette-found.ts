/** Search results of the manager for the command palette: deployments, blueprints, executions. */
import type { Client } from '@baton/client';
import { queryOptions } from '@tanstack/react-query';
import { statusText } from '../text/text';

export interface FoundThing {
  kind: 'deployments' | 'blueprints' | 'executions';
  id: string;
  text: string;
  sub: string;
}

const SIZE = 5;
/** Minimum length of the text: a single letter would match too much. */
export const LEAST_LETTERS = 2;

/** Kinds that the user may not list are left out. */
const orNothing = (found: Promise<FoundThing[]>): Promise<FoundThing[]> => found.catch(() => []);

export const foundThingsQuery = (client: Client, tenant: string, text: string) =>
  queryOptions({
    queryKey: ['palette', tenant, text],
    queryFn: async ({ signal }): Promise<FoundThing[]> => {
      const about = { tenant, signal };
      const query = { _search: text, _size: SIZE };
      const found = await Promise.all([
        orNothing(
          client
            .call('listDeployments', {
              ...about,
              query: { ...query, _search_name: text, _include: 'id,display_name,blueprint_id' },
            })
            .then(({ items }) =>
              items.map(({ id, display_name, blueprint_id }) => ({
                kind: 'deployments',
                id,
                text: display_name || id,
                sub: [display_name !== id && id, blueprint_id].filter(Boolean).join(' · '),
              })),
            ),
        ),
        orNothing(
          client
            .call('listBlueprints', { ...about, query: { ...query, _include: 'id' } })
            .then(({ items }) => items.map(({ id }) => ({ kind: 'blueprints', id, text: id, sub: '' }))),
        ),
        orNothing(
          client
            .call('listExecutions', {
              ...about,
              query: {
                ...query,
                _sort: ['-created_at', 'id'],
                _include: 'id,workflow_id,deployment_id,status',
              },
            })
            .then(({ items }) =>
              items.map(({ id, workflow_id, deployment_id, status }) => ({
                kind: 'executions',
                id: id ?? '',
                text: [workflow_id, deployment_id].filter(Boolean).join(' · '),
                sub: statusText(status),
              })),
            ),
        ),
      ]);
      return found.flat();
    },
    staleTime: 10_000,
    gcTime: 60_000,
  });
