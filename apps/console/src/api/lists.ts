/** Lists of the API for screens: pages with named fields, cached by kind and tenant. */
import type { AnswerOf, Client, OperationId } from '@baton/client';
import type { QueryClient, UseQueryOptions } from '@tanstack/react-query';
import { type ApiQuery, PAGE_SIZE, type Page, pageOf } from './pages';

interface ListAnswer {
  items: unknown[];
  metadata: { pagination: { total?: number | undefined; next?: string | null | undefined } };
}
/** Operations that return pages. */
type ListId = {
  [Id in OperationId]: AnswerOf<Id> extends ListAnswer ? Id : never;
}[OperationId];
/** Those of them whose pages can be read from a cursor on. */
type CursorListId = {
  [Id in ListId]: AnswerOf<Id> extends { metadata: { pagination: { next?: string | null | undefined } } }
    ? undefined extends AnswerOf<Id>['metadata']['pagination']['total']
      ? Id
      : never
    : never;
}[ListId];

export interface ListSource<Row> {
  /** The first part of the query keys: `[kind, tenant, 'page', ...]`. */
  kind: string;
  page: (
    client: Client,
    tenant: string,
    query: ApiQuery,
    offset: number,
  ) => UseQueryOptions<Page<Row>, Error, Page<Row>, readonly unknown[]>;
}

/** Returns the source of a list: an operation and the fields of its rows. `params`: path parameters. */
export function listOf<Row>(
  kind: string,
  operation: ListId,
  fields: readonly (keyof Row & string)[],
  params?: Record<string, string>,
): ListSource<Row> {
  return {
    kind,
    page: (client, tenant, query, offset) => ({
      queryKey: [kind, tenant, 'page', params ?? null, query, offset],
      queryFn: async ({ signal }) =>
        pageOf<Row>(
          await readPage(client, operation, {
            tenant,
            signal,
            params,
            query: { ...query, _include: fields.join(','), _offset: offset },
          }),
        ),
    }),
  };
}

/**
 * The same of a list to which nothing is added, read from page to page by the cursor of the page before. A page without one,
 * to which somebody jumped, is found by its offset.
 */
export function cursorListOf<Row>(
  kind: string,
  operation: CursorListId,
  fields: readonly (keyof Row & string)[],
): ListSource<Row> {
  return {
    kind,
    page: (client, tenant, query, offset) => {
      const keyAt = (at: number) => [kind, tenant, 'page', null, query, at];
      const read = (place: ApiQuery, signal: AbortSignal) =>
        readPage(client, operation, {
          tenant,
          signal,
          query: { ...query, _include: fields.join(','), ...place },
        });
      return {
        queryKey: keyAt(offset),
        queryFn: async ({ signal, client: cache }) => {
          if (offset === 0) return cursorPage(await read({ _after: '' }, signal));
          const before = await pageBefore<Row>(cache, keyAt, offset);
          if (typeof before?.next !== 'string') return pageOf<Row>(await read({ _offset: offset }, signal));
          const page = await read({ _after: before.next, _total: false }, signal);
          return { ...cursorPage<Row>(page), total: before.total };
        },
      };
    },
  };
}

const cursorPage = <Row>(answer: ListAnswer): Page<Row> => ({
  ...pageOf<Row>(answer),
  next: answer.metadata.pagination.next ?? null,
});

/** The page before the one at `offset`; one that is being read is waited for where it will have a cursor. */
async function pageBefore<Row>(
  cache: QueryClient,
  keyAt: (offset: number) => readonly unknown[],
  offset: number,
): Promise<Page<Row> | undefined> {
  const queryKey = keyAt(offset - PAGE_SIZE);
  const known = cache.getQueryData<Page<Row>>(queryKey);
  if (known || !willHaveCursor(cache, keyAt, offset - PAGE_SIZE)) return known;
  // Joins the read that is under way; where that fails or is given up, the offset will do.
  return await cache.ensureQueryData<Page<Row>>({ queryKey }).catch(() => undefined);
}

function willHaveCursor(
  cache: QueryClient,
  keyAt: (offset: number) => readonly unknown[],
  offset: number,
): boolean {
  const state = cache.getQueryState<Page<unknown>>(keyAt(offset));
  if (state?.data) return typeof state.data.next === 'string';
  return (
    state?.fetchStatus === 'fetching' && (offset === 0 || willHaveCursor(cache, keyAt, offset - PAGE_SIZE))
  );
}

/** One caller for all lists: their arguments differ only in names of filters. */
async function readPage(
  client: Client,
  operation: ListId,
  args: {
    tenant: string;
    signal: AbortSignal;
    params?: Record<string, string> | undefined;
    query: ApiQuery;
  },
): Promise<ListAnswer> {
  const call = client.call as (id: string, args: object) => Promise<ListAnswer>;
  return await call(operation, { ...args, query: { ...args.query, _size: PAGE_SIZE } });
}
