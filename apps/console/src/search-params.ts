/** Query parameters of the address in the plain form of the API: `?status=failed&status=queued&_sort=-created_at`. */
export type Search = Record<string, string | string[]>;

/** Parses the query. A repeated parameter becomes a list. */
export function parseSearch(text: string): Search {
  const search: Search = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const before = search[name];
    search[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value];
  }
  return search;
}

/** Formats the query without empty and absent values. */
export function stringifySearch(search: Record<string, unknown>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search))
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined && one !== null && one !== '' && one !== false) params.append(name, String(one));
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}

/** Returns a non-empty text; of a list its first item. */
export function textOf(value: unknown): string | undefined {
  const first = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' && first !== '' ? first : undefined;
}

/** Returns the values that are in `known`, without duplicates; undefined when there are none. */
export function choicesOf<T extends string>(value: unknown, known: readonly T[]): T[] | undefined {
  const texts = (Array.isArray(value) ? value : [value]) as unknown[];
  const chosen = known.filter((one) => texts.includes(one));
  return chosen.length > 0 ? chosen : undefined;
}

export const flagOf = (value: unknown): true | undefined =>
  textOf(value) === 'true' || value === true ? true : undefined;

/** Returns names and values of the filters in an address. The sort order is not a filter. */
export const filtersOf = ({
  _sort,
  ...search
}: object & { _sort?: unknown }): [name: string, values: string[]][] =>
  Object.entries(search).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, (Array.isArray(value) ? value : [value]).map(String)]],
  );

/** Reads the address of a list that has only a search. */
export const readListSearch = (search: Record<string, unknown>): { _search?: string } => ({
  _search: textOf(search._search),
});
