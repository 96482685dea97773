/** Filters of the list of deployments, kept in the address. Their names are those of the API. */
import type { ApiQuery } from '../api/pages';
import { choicesOf, textOf } from '../search-params';

export const STATUSES = ['requires_attention', 'in_progress', 'good'] as const;
export const INSTALLATIONS = ['active', 'inactive'] as const;
export const LATEST = ['in_progress', 'completed', 'failed', 'cancelled'] as const;
export const SORTS = [
  '-created_at',
  'created_at',
  'id',
  '-id',
  'deployment_status',
  '-drifted_instances',
  'blueprint_id',
] as const;
export const USUAL_SORT = '-created_at';

export interface DeploymentSearch {
  _search?: string;
  deployment_status?: (typeof STATUSES)[number][];
  installation_status?: (typeof INSTALLATIONS)[number][];
  latest_execution_status?: (typeof LATEST)[number][];
  blueprint_id?: string;
  site_name?: string;
  /** A stored filter; see the screen of filters. */
  _filter_id?: string;
  _sort?: (typeof SORTS)[number];
}

/** Reads the known parameters of the address and drops the rest. */
export function readDeploymentSearch(search: Record<string, unknown>): DeploymentSearch {
  return {
    _search: textOf(search._search),
    deployment_status: choicesOf(search.deployment_status, STATUSES),
    installation_status: choicesOf(search.installation_status, INSTALLATIONS),
    latest_execution_status: choicesOf(search.latest_execution_status, LATEST),
    blueprint_id: textOf(search.blueprint_id),
    site_name: textOf(search.site_name),
    _filter_id: textOf(search._filter_id),
    _sort: choicesOf(textOf(search._sort), SORTS)?.[0],
  };
}

/** Returns the filters as API parameters. The search text is matched with ids and names. */
export function filterQuery({ _sort, ...search }: DeploymentSearch): ApiQuery {
  const query: ApiQuery = { ...search, _search_name: search._search };
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
}

/** Returns the query of a page. The id breaks ties in the order, so that no row appears on two pages. */
export function pageQuery(search: DeploymentSearch): ApiQuery {
  const sort = search._sort ?? USUAL_SORT;
  return {
    ...filterQuery(search),
    _sort: sort.endsWith('id') && sort !== 'blueprint_id' ? [sort] : [sort, 'id'],
  };
}

/** Returns the query of the counts per status, without the filter by status itself. */
export function countQuery({ deployment_status, ...search }: DeploymentSearch): ApiQuery {
  void deployment_status;
  return filterQuery(search);
}
