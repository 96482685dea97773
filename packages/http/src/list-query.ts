/** List conventions of reference/rest-api.md ch. 3, compiled once per route. */
import type { ListContract, ListPage, ListQuery } from '@baton/contracts';
import { AppError, badParameter, nearestName, type RawJson } from '@baton/kernel';
import { rulesOf } from './rules-of';
import type { Wire } from './wire';

/** The query as received: one text, or several for a repeated parameter. */
export type RawQuery = Record<string, string | string[]>;

const DEFAULT_SIZE = 1000;
/** More rows than any table may hold; a larger number is a caller's mistake. */
const MAX_NUMBER = 2_147_483_647;

export function valuesOf(raw: string | string[] | undefined): string[] {
  return raw === undefined ? [] : Array.isArray(raw) ? raw : [raw];
}

/** Returns the first value of a single-valued parameter, which may be repeated. */
export function firstOf(raw: string | string[] | undefined): string | undefined {
  return Array.isArray(raw) ? raw[0] : raw;
}

/** `true` and `false` in any letter case. @throws AppError bad_parameters_error */
export function booleanOf(name: string, raw: string | string[] | undefined): boolean {
  const text = firstOf(raw);
  if (text === undefined) return false;
  const lower = text.toLowerCase();
  if (lower === 'true') return true;
  if (lower === 'false') return false;
  throw badParameter(name, `Invalid query parameter \`${name}\`: expected true or false, got \`${text}\``, {
    expected: ['true', 'false'],
  });
}

function numberOf(name: string, raw: string | string[] | undefined, absent: number): number {
  const text = firstOf(raw);
  if (text === undefined) return absent;
  const number = /^\d{1,15}$/.test(text) ? Number(text) : -1;
  if (number < 0 || number > MAX_NUMBER) {
    throw badParameter(
      name,
      `Invalid query parameter \`${name}\`: expected a whole number from 0 to ${MAX_NUMBER}, got \`${text}\``,
      {
        expected: `whole number from 0 to ${MAX_NUMBER}`,
      },
    );
  }
  return number;
}

/**
 * Returns the names of `_include`, checked against `fields` (null: every name is accepted); null when absent or empty.
 * @throws AppError no_such_include_field_error
 */
export function parseInclude(
  raw: string | string[] | undefined,
  fields: ReadonlySet<string> | null,
): string[] | null {
  if (raw === undefined) return null;
  const names = valuesOf(raw)
    .filter((part) => part !== '')
    .flatMap((part) => part.split(','));
  if (names.length === 0) return null;
  for (const name of names) {
    if (!fields || fields.has(name)) continue;
    const nearest = nearestName(name, fields);
    throw new AppError(
      'no_such_include_field_error',
      `Field \`${name}\` does not exist. Available fields are: ${[...fields].join(', ')}${nearest ? ` - did you mean \`${nearest}\`?` : ''}`,
      { field: name, expected: [...fields], ...(nearest ? { nearest } : {}) },
    );
  }
  return [...new Set(names)];
}

const SORT = /^([+\- ]?)@?([A-Za-z_][\w.]*|label:.+)$/;

function parseSort(contract: ListContract, raw: string | string[] | undefined): ListQuery['sort'] {
  const values = valuesOf(raw);
  if (values.length === 0) return [...contract.defaultSort];
  return values.map((value) => {
    const match = SORT.exec(value);
    const field = match?.[2];
    // `label:<key>` is allowed where the contract lists `label:*`.
    const isKnown =
      field !== undefined && contract.sorts.includes(field.startsWith('label:') ? 'label:*' : field);
    if (match && isKnown) return { field, descending: match[1] === '-' };
    const nearest = nearestName(field ?? value, contract.sorts);
    throw badParameter(
      '_sort',
      `Invalid query parameter \`_sort\`: cannot sort by \`${value}\`; possible are: ${contract.sorts.join(', ')}`,
      {
        expected: contract.sorts,
        ...(nearest ? { nearest } : {}),
      },
    );
  });
}

function unknownParameter(name: string, allowed: readonly string[]): AppError {
  const nearest = nearestName(name, allowed);
  return badParameter(
    name,
    `Unknown query parameter \`${name}\`${nearest ? ` - did you mean \`${nearest}\`?` : ''}. Allowed filters are: ${allowed.join(', ')}`,
    { expected: allowed, ...(nearest ? { nearest } : {}) },
  );
}

/** Boolean parameters of single resources: their meaning belongs to the route, but their values are checked for every list. */
const BOOLEANS = [
  '_common_only',
  '_environments_only',
  '_evaluate_functions',
  '_get_data',
  '_include_system_workflows',
  '_reserved',
];

function withoutTail(values: string[]): string[] {
  // `?site_name=` matches rows where the field is NULL.
  return values.every((v) => v === '') ? [] : values;
}

/**
 * Returns the parser of one list route. `queryKeys` are the parameters of the route's own query schema: they are not filters. The
 * parser throws AppError bad_parameters_error or no_such_include_field_error.
 */
export function compileList(
  contract: ListContract,
  queryKeys: readonly string[],
  wire: Wire = 'spec',
): (raw: RawQuery) => ListQuery {
  const rules = rulesOf(wire);
  const fields = rules.isIncludeLoose(contract) ? null : new Set(contract.fields);
  const filterNames = new Set(contract.filters);
  const own = new Set(queryKeys);
  const extraNames = new Set(Object.keys(contract.extra ?? {}));
  const allowed = [...new Set([...contract.filters, ...queryKeys.filter((key) => !key.startsWith('_'))])];
  const passedOver = new Set(rules.passedOver(contract));
  const isFilterRead = (name: string) =>
    !passedOver.has('filters') && (filterNames.has(name) || !passedOver.has('other filters'));
  const isRead = (name: string) =>
    own.has(name) || (name.startsWith('_') ? !passedOver.has(name) : isFilterRead(name));
  return (given) => {
    const raw =
      passedOver.size === 0
        ? given
        : Object.fromEntries(Object.entries(given).filter(([name]) => isRead(name)));
    const filters: ListQuery['filters'] = {};
    const extra: ListQuery['extra'] = {};
    for (const [name, value] of Object.entries(raw)) {
      if (name.startsWith('_')) {
        if (extraNames.has(name)) extra[name] = valuesOf(value);
      } else if (own.has(name)) continue;
      else if (filterNames.has(name)) filters[name] = withoutTail(valuesOf(value));
      else if (contract.ignoresOthers !== true) throw unknownParameter(name, allowed);
    }
    for (const name of BOOLEANS) booleanOf(name, raw[name]);
    const getAll = contract.allowsGetAll && booleanOf('_get_all_results', raw._get_all_results);
    const size = numberOf('_size', raw._size, contract.defaultSize ?? DEFAULT_SIZE);
    const offset = numberOf('_offset', raw._offset, 0);
    const search = firstOf(raw._search)?.normalize('NFKC') || null;
    const searchName = firstOf(raw._search_name)?.normalize('NFKC') || null;
    return {
      include: parseInclude(raw._include, fields),
      filters,
      sort: parseSort(contract, raw._sort),
      size: getAll ? 0 : size,
      offset: getAll ? 0 : offset,
      search: contract.search === undefined ? null : search,
      searchName: contract.searchName === undefined ? null : searchName,
      allTenants: contract.allowsAllTenants && booleanOf('_all_tenants', raw._all_tenants),
      getAll,
      ...(getAll ? { echo: { size: raw._size === undefined ? 0 : size, offset } } : {}),
      asked: { size: raw._size !== undefined, offset: raw._offset !== undefined },
      extra,
      ...keysetOf(contract, raw),
    };
  };
}

/** Only requests with `_after` use cursors; others get pages with an offset. */
function keysetOf(contract: ListContract, raw: RawQuery): Pick<ListQuery, 'keyset'> {
  const after = firstOf(raw._after);
  if (contract.hasCursor !== true || after === undefined) return {};
  return { keyset: { after, hasTotal: raw._total === undefined || booleanOf('_total', raw._total) } };
}

/** Returns `value` reduced to the named keys; null names keep it whole. */
export function pickFields(value: unknown, names: readonly string[] | null): unknown {
  if (names === null || typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const source = value as Record<string, unknown>;
  return Object.fromEntries(
    names.filter((name) => source[name] !== undefined).map((name) => [name, source[name]]),
  );
}

/**
 * Returns the list envelope (reference ch. 3.1); items are reduced to `_include`. `hasFiltered: false` leaves `metadata.filtered`
 * out (events, labels, bare lists of other sources).
 */
export function listEnvelope<T>(page: ListPage<T>, list: ListQuery, options: { hasFiltered?: boolean } = {}) {
  return {
    items: list.include === null ? page.items : page.items.map((item) => pickFields(item, list.include)),
    metadata: metadataOf(page, list, options.hasFiltered !== false),
  };
}

/** `listEnvelope` for items that are one JSON list already, reduced to `_include` where they were written. */
export function rawEnvelope(
  page: { items: RawJson; total: number; filtered?: number | null; next?: string | null },
  list: ListQuery,
  options: { hasFiltered?: boolean } = {},
) {
  return { items: page.items, metadata: metadataOf(page, list, options.hasFiltered !== false) };
}

function metadataOf(
  {
    total,
    filtered,
    next,
  }: { total: number; filtered?: number | null | undefined; next?: string | null | undefined },
  list: ListQuery,
  hasFiltered: boolean,
) {
  // They repeat the request (spec v3.1 part 1), also where it asks for all rows.
  const { offset, size } = list.echo ?? list;
  const counted = list.keyset?.hasTotal === false ? {} : { total };
  return {
    pagination: { ...counted, offset, size, ...(next === undefined ? {} : { next }) },
    ...(hasFiltered ? { filtered: filtered ?? null } : {}),
  };
}
