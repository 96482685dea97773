/** A screen with a list of the API: search and filters in the address, a count, an action, pages of rows. */
import { type ReactNode, useCallback, useMemo, useState } from 'react';
import { useApi, useTenant } from '../api/api-context';
import type { ListSource } from '../api/lists';
import type { ApiQuery } from '../api/pages';
import { usePollMs } from '../live/live-badge';
import { filtersOf } from '../search-params';
import { t } from '../text/text';
import { SavedViews } from '../views/saved-views';
import { Button } from './button';
import { Screen } from './screen';
import { SearchBox } from './search-box';
import { Empty } from './states';
import bar from './toolbar.module.css';
import { useAddress } from './use-address';
import { type ListColumn, VirtualList } from './virtual-list';

interface ListScreenProps<Row> {
  /** The heading and the page title. */
  name: string;
  /** The accessible name of the table. */
  label: string;
  list: ListSource<Row>;
  columns: ListColumn<Row>[];
  keyOf: (row: Row) => string;
  /** Text of the count, such as `12 secrets`. */
  count: (total: number) => string;
  /** Shown when the list is empty without filters: should tell the first step. */
  empty: ReactNode;
  /** Default order. It should end with the id, so that no row appears on two pages. `_sort` of the address takes precedence. */
  sort: readonly string[];
  /** Label of the search box, which is bound to `_search` of the address. */
  searchLabel?: string;
  /** Further controls of the bar; they change the address with `useAddress`. */
  filters?: ReactNode;
  /** Actions, at the right of the heading. */
  side?: ReactNode;
  above?: ReactNode;
  /** Tabs below the heading: related lists. */
  tabs?: ReactNode;
  /** Converts parameters of the address into parameters of the API, where they differ. */
  queryOf?: (search: Record<string, unknown>) => ApiQuery;
  /** The stream of changes covers this kind. When no stream is available, the list is polled. */
  isLive?: boolean;
  /** For a list of which no stream tells: it is read again so often while it is shown. */
  pollMs?: number;
  isSelected?: (row: Row) => boolean;
  /** Actions on the selected rows, above the table. */
  selection?: ReactNode;
}

export function ListScreen<Row>(props: ListScreenProps<Row>) {
  const { name, label, list, columns, keyOf, sort, searchLabel, isLive = false, queryOf } = props;
  const { client } = useApi();
  const tenant = useTenant();
  const { search, change, clear } = useAddress<Record<string, unknown> & { _search?: string }>();
  const [total, setTotal] = useState<number>();
  const streamPollMs = usePollMs();
  const pollMs = props.pollMs ?? (isLive ? streamPollMs : undefined);
  const query = useMemo(() => listQuery(search, sort, queryOf), [search, sort, queryOf]);
  const setText = useCallback((text: string) => change({ _search: text || undefined }), [change]);
  const filters = filtersOf(search);
  return (
    <Screen name={name} side={props.side} above={props.above} isFilling>
      {props.tabs}
      <search className={bar.bar} aria-label={t.list.filters}>
        {searchLabel && <SearchBox label={searchLabel} value={search._search ?? ''} onChange={setText} />}
        {props.filters}
        {filters.length > 0 && (
          <Button look="quiet" onClick={clear}>
            {t.clearFilters}
          </Button>
        )}
        <SavedViews />
        <span className={bar.grow} />
        <span className={bar.count} role="status">
          {total === undefined ? '' : props.count(total)}
        </span>
      </search>
      {props.selection}
      <VirtualList
        label={label}
        columns={columns}
        page={(offset) => ({
          ...list.page(client, tenant, query, offset),
          ...(pollMs !== undefined && { refetchInterval: pollMs }),
        })}
        keyOf={keyOf}
        isSelected={props.isSelected}
        resetKey={JSON.stringify([tenant, query])}
        onTotal={setTotal}
        empty={filters.length > 0 ? <NoMatch filters={filters} onClear={clear} /> : props.empty}
      />
    </Screen>
  );
}

function listQuery(
  { _sort, ...search }: Record<string, unknown>,
  sort: readonly string[],
  queryOf: (search: Record<string, unknown>) => ApiQuery = (all) => all as ApiQuery,
): ApiQuery {
  const first = typeof _sort === 'string' ? [_sort] : [];
  const set = Object.entries(queryOf(search)).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(set), _sort: [...first, ...sort] };
}

/** Shown when filters exclude all rows; names the filters. */
export function NoMatch({
  title = t.list.noMatch,
  filters,
  onClear,
}: {
  title?: string;
  filters: [name: string, values: string[]][];
  onClear: () => void;
}) {
  const text = filters.map(([name, values]) => `${name.replace(/^_/, '')} = ${values.join(', ')}`).join('; ');
  return (
    <Empty
      title={title}
      hint={t.list.noMatchHint(text)}
      action={<Button onClick={onClear}>{t.clearFilters}</Button>}
    />
  );
}
