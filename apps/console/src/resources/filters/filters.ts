/** Reads and changes stored filters, of deployments and of blueprints. */
import type { Client, Schemas } from '@baton/client';
import { queryOptions } from '@tanstack/react-query';
import { type ListSource, listOf } from '../../api/lists';
import { type Page, pageOf } from '../../api/pages';
import type { FilterKind, FilterRule } from './filter-rules';

export const FILTERS = 'filters';

const FIELDS = [
  'id',
  'value',
  'visibility',
  'is_system_filter',
  'updated_at',
  'created_at',
  'created_by',
  'tenant_name',
] as const;
export type FilterRow = Pick<Schemas['DeploymentFilter'], (typeof FIELDS)[number]>;

export const FILTER_LISTS: Readonly<Record<FilterKind, ListSource<FilterRow>>> = {
  deployments: listOf<FilterRow>(FILTERS, 'listDeploymentFilters', FIELDS),
  blueprints: listOf<FilterRow>(FILTERS, 'listBlueprintFilters', FIELDS),
};

export const filterQuery = (client: Client, tenant: string, kind: FilterKind, id: string) =>
  queryOptions({
    queryKey: [FILTERS, tenant, 'one', kind, id],
    queryFn: async ({ signal }): Promise<FilterRow> => {
      const about = { tenant, signal, query: { _include: FIELDS.join(',') } };
      return kind === 'deployments'
        ? await client.call('getDeploymentFilter', { ...about, params: { id } })
        : await client.call('getBlueprintFilter', { ...about, params: { filter_id: id } });
    },
  });

/** For the choice above the list that they narrow; those of the system are not offered. */
export const filterNamesQuery = (client: Client, tenant: string, kind: FilterKind) =>
  queryOptions({
    queryKey: [FILTERS, tenant, 'names', kind],
    queryFn: async ({ signal }): Promise<string[]> => {
      const about = {
        tenant,
        signal,
        query: { is_system_filter: false, _include: 'id', _sort: 'id', _size: 200 },
      };
      const { items } =
        kind === 'deployments'
          ? await client.call('listDeploymentFilters', about)
          : await client.call('listBlueprintFilters', about);
      return items.map(({ id }: { id: string }) => id);
    },
    staleTime: 60_000,
  });

/** Current results of the rules: their total, and the first ones. */
export const foundQuery = (client: Client, tenant: string, kind: FilterKind, rules: readonly FilterRule[]) =>
  queryOptions({
    queryKey: [kind, tenant, 'found', rules],
    queryFn: async ({ signal }): Promise<Page<{ id: string }>> => {
      const about = {
        tenant,
        signal,
        query: { _include: 'id', _sort: 'id', _size: 5 },
        body: { filter_rules: rules },
      };
      return pageOf(
        kind === 'deployments'
          ? await client.call('searchDeployments', about)
          : await client.call('searchBlueprints', about),
      );
    },
    staleTime: 0,
  });

export interface FilterBody {
  filter_rules: FilterRule[];
  visibility: FilterRow['visibility'];
}

export const createFilter = (
  client: Client,
  tenant: string,
  kind: FilterKind,
  id: string,
  body: FilterBody,
): Promise<unknown> =>
  kind === 'deployments'
    ? client.call('createDeploymentFilter', { tenant, params: { id }, body })
    : client.call('putBlueprintFilter', { tenant, params: { filter_id: id }, body });

export const changeFilter = (
  client: Client,
  tenant: string,
  kind: FilterKind,
  id: string,
  body: FilterBody,
): Promise<unknown> =>
  kind === 'deployments'
    ? client.call('updateDeploymentFilter', { tenant, params: { id }, body })
    : client.call('patchBlueprintFilter', { tenant, params: { filter_id: id }, body });

export const deleteFilter = (
  client: Client,
  tenant: string,
  kind: FilterKind,
  id: string,
): Promise<unknown> =>
  kind === 'deployments'
    ? client.call('deleteDeploymentFilter', { tenant, params: { id } })
    : client.call('deleteBlueprintFilter', { tenant, params: { filter_id: id } });
