/** Saved views: filters, search and order of a list, under a name. */
import type { Client, Schemas } from '@baton/client';
import { queryOptions } from '@tanstack/react-query';

export const VIEWS = 'views';

const FIELDS = ['name', 'screen', 'query', 'is_shared', 'created_by'] as const;
export type SavedView = Pick<Schemas['SavedView'], (typeof FIELDS)[number]>;

/** The user's own views and views that others share, of all screens: a name is unique across screens. */
export const viewsQuery = (client: Client, tenant: string) =>
  queryOptions({
    queryKey: [VIEWS, tenant],
    queryFn: async ({ signal }): Promise<SavedView[]> =>
      (
        await client.call('listViews', {
          tenant,
          signal,
          query: { _include: FIELDS.join(','), _size: 200, _sort: 'name' },
        })
      ).items,
  });

export type NewView = Schemas['NewSavedView'] & { name: string };

export const saveView = (client: Client, tenant: string, { name, ...body }: NewView) =>
  client.call('putView', { tenant, params: { name }, body });

export const deleteView = (client: Client, tenant: string, name: string) =>
  client.call('deleteView', { tenant, params: { name } });
