import type { OperationId } from '@baton/client';
import type { ExtraParameter, ListContract, RouteContract } from '@baton/contracts';
import { allRoutes } from '@baton/contracts/http/all';
import { nearestName } from '@baton/kernel';
import type { Option } from 'commander';
import { UsageFailure } from '../failure';
import { number, type Options, option, repeated } from './define';

const byId = new Map<string, RouteContract>(allRoutes.map((route) => [route.id, route]));

/** @throws Error for an operation that the API does not have */
export function contractOf(operation: OperationId): RouteContract {
  const found = byId.get(operation);
  if (!found) throw new Error(`the API has no operation ${operation}`);
  return found;
}

/** @throws Error when the operation answers no list */
export function listOf(operation: OperationId): ListContract {
  const { list } = contractOf(operation);
  if (!list) throw new Error(`${operation} is not a list`);
  return list;
}

/** Extra parameters that have better options, or none for people. */
const WITHOUT_OPTION = new Set(['_get_data', '_range']);
const EXTRA_NAMES: Record<string, string> = { _include_system_workflows: 'system' };
const EXTRA_TEXTS: Record<string, string> = {
  _filter_id: 'rules of this stored filter as well',
  _group_id: 'only of this group',
  _dependencies_of: 'only what this deployment depends on',
  _environments_only: 'only environments',
  _common_only: 'only what all have',
  _include_system_workflows: 'system workflows as well',
};

const optionName = (parameter: string): string =>
  EXTRA_NAMES[parameter] ?? parameter.slice(1).replaceAll('_', '-');
/** Name under which commander keeps the option: filter-id -> filterId. */
const optionKey = (name: string): string =>
  name.replace(/-([a-z])/g, (_all, letter: string) => letter.toUpperCase());

function extras(list: ListContract): [string, ExtraParameter][] {
  return Object.entries(list.extra ?? {}).filter(([name]) => !WITHOUT_OPTION.has(name));
}

/** Returns the options of a list as its contract has them: search, filters by field, sorting, page, all tenants, extra ones. */
export function listOptions(operation: OperationId): Option[] {
  const list = listOf(operation);
  return [
    ...(list.search ? [option('--search <text>', `part of ${list.search}`)] : []),
    ...(list.searchName ? [option('--search-name <text>', `part of ${list.searchName}`)] : []),
    ...(list.filters.length > 0
      ? [repeated('--where <field=value>', 'only with this value of a field, for a field one of its values')]
      : []),
    ...(list.sorts.length > 0 ? [repeated('--sort <field>', 'sort by a field, -field downwards')] : []),
    number('--size <n>', 'only one page of this length'),
    number('--offset <n>', 'only one page, after this number of objects'),
    ...(list.allowsAllTenants ? [option('-a, --all-tenants', 'of all tenants that you may see')] : []),
    ...extras(list).map(([parameter, type]) => {
      const about = EXTRA_TEXTS[parameter] ?? `parameter ${parameter} of the API`;
      return option(`--${optionName(parameter)}${type === 'flag' ? '' : ' <value>'}`, about);
    }),
  ];
}

/**
 * Returns the query parameters for the options of a list.
 * @throws UsageFailure for a field that the list does not have, with the nearest one
 */
export function listQuery(operation: OperationId, options: Options): Record<string, unknown> {
  const list = listOf(operation);
  const query: Record<string, unknown> = {
    _search: options.search,
    _search_name: options.searchName,
    _all_tenants: options.allTenants,
  };
  for (const [parameter] of extras(list)) query[parameter] = options[optionKey(optionName(parameter))];
  for (const [field, value] of pairs(options.where ?? [])) {
    known('--where', field, list.filters);
    query[field] = [...((query[field] as string[] | undefined) ?? []), value];
  }
  const sort = (options.sort ?? []) as string[];
  for (const field of sort) known('--sort', field.replace(/^[-+]/, ''), list.sorts);
  if (sort.length > 0) query._sort = sort;
  return query;
}

/** Whether the options ask for one page instead of everything. */
export const isOnePage = ({ size, offset }: Options): boolean => size !== undefined || offset !== undefined;

function pairs(items: readonly string[]): [string, string][] {
  return items.map((item) => {
    const at = item.indexOf('=');
    if (at <= 0) throw new UsageFailure(`--where ${item}: expected field=value`);
    return [item.slice(0, at), item.slice(at + 1)];
  });
}

function known(name: string, field: string, fields: readonly string[]): void {
  if (fields.includes(field)) return;
  const nearest = nearestName(field, fields);
  throw new UsageFailure(
    `${name} ${field}: expected one of ${fields.join(', ')}${nearest ? `; did you mean ${nearest}?` : ''}`,
  );
}
