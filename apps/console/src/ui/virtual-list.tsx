/**
 * A long list of the API: renders only visible rows and loads only the pages they need. Has the semantics of a table with the
 * true number of rows.
 */
import { type UseQueryOptions, useQueries } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { PAGE_SIZE, type Page } from '../api/pages';
import { pagesFor, rowAt } from './page-window';
import { Loading, ProblemView } from './states';
import { useIsNarrow } from './use-is-narrow';
import styles from './virtual-list.module.css';

export interface ListColumn<Row> {
  id: string;
  name: string;
  /** Track size of CSS grid. */
  width: string;
  cell: (row: Row) => ReactNode;
  /** Hidden on narrow screens, where the first cell contains the most important data. */
  isWideOnly?: boolean;
}

interface VirtualListProps<Row> {
  label: string;
  columns: ListColumn<Row>[];
  page: (offset: number) => UseQueryOptions<Page<Row>, Error, Page<Row>, readonly unknown[]>;
  keyOf: (row: Row) => string;
  isSelected?: (row: Row) => boolean;
  empty: ReactNode;
  onTotal?: (total: number | undefined) => void;
  /** A new key scrolls the list to its top. */
  resetKey: string;
}

const ROW_PX = 44;
const NARROW_ROW_PX = 76;
/** Pages are requested after this pause in scrolling. */
const REST_MS = 80;

export function VirtualList<Row>({
  label,
  columns,
  page,
  keyOf,
  isSelected,
  empty,
  onTotal,
  resetKey,
}: VirtualListProps<Row>) {
  const scroller = useRef<HTMLDivElement>(null);
  const isNarrow = useIsNarrow();
  const [wanted, setWanted] = useState<number[]>([0]);
  const known = useRef<{ total: number; resetKey: string } | null>(null);
  const results = useQueries({
    queries: wanted.map((index) => page(index * PAGE_SIZE)),
  });
  const answered = results.find(({ data }) => data)?.data?.total;
  if (answered !== undefined) known.current = { total: answered, resetKey };
  const total = known.current?.total;
  const virtual = useVirtualizer({
    count: total ?? 0,
    getScrollElement: () => scroller.current,
    estimateSize: () => (isNarrow ? NARROW_ROW_PX : ROW_PX),
    overscan: 8,
  });
  useEffect(() => virtual.measure(), [virtual, isNarrow]);
  useEffect(() => {
    virtual.scrollToOffset(0);
    setWanted([0]);
  }, [virtual, resetKey]);
  useEffect(() => onTotal?.(total), [total, onTotal]);

  const items = virtual.getVirtualItems();
  const range = pagesFor(items[0]?.index ?? 0, items.at(-1)?.index ?? 0, PAGE_SIZE, total ?? 0).join(',');
  useEffect(() => {
    const timer = setTimeout(() => setWanted(range.split(',').map(Number)), REST_MS);
    return () => clearTimeout(timer);
  }, [range]);

  const shown = useMemo(
    () => columns.filter(({ isWideOnly }) => !isNarrow || !isWideOnly),
    [columns, isNarrow],
  );
  const tracks = shown.map(({ width }) => width).join(' ');
  const pages = usePages(wanted, results, resetKey);
  const failed = results.find(({ error }) => error);
  // Of another list only the length is known.
  if (failed && known.current?.resetKey !== resetKey)
    return <ProblemView error={failed.error} onRetry={() => void failed.refetch()} />;
  if (total === undefined) return <Loading />;
  if (total === 0) return empty;
  return (
    <div
      className={`${styles.table} ${results[0]?.isPending ? styles.old : ''}`}
      role="table"
      aria-label={label}
      aria-rowcount={total + 1}
      aria-busy={results.some(({ isPending }) => isPending)}
    >
      <div role="rowgroup" className={isNarrow ? 'visually-hidden' : ''}>
        <div role="row" aria-rowindex={1} className={styles.head} style={{ gridTemplateColumns: tracks }}>
          {shown.map(({ id, name }) => (
            <div role="columnheader" key={id}>
              {name}
            </div>
          ))}
        </div>
      </div>
      <div role="rowgroup" ref={scroller} className={styles.scroller} tabIndex={0} data-rows="">
        <div role="presentation" className={styles.space} style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start, size }) => {
            const row = rowAt(pages, index, PAGE_SIZE);
            return (
              <VirtualRow
                key={row ? keyOf(row) : index}
                row={row}
                index={index}
                start={start}
                size={size}
                columns={shown as ListColumn<unknown>[]}
                tracks={tracks}
                isSelected={row !== undefined && isSelected?.(row) === true}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** Returns the loaded pages by number. During a reload the old rows of a page stay, so that a focused row keeps its focus. */
function usePages<Row>(
  wanted: readonly number[],
  results: readonly { data: Page<Row> | undefined }[],
  resetKey: string,
): ReadonlyMap<number, readonly Row[]> {
  const last = useRef({ resetKey, pages: new Map<number, readonly Row[]>() });
  const old = last.current.resetKey === resetKey ? last.current.pages : undefined;
  const pages = new Map(
    wanted.map((index, i) => [index, results[i]?.data?.items ?? old?.get(index) ?? []] as const),
  );
  last.current = { resetKey, pages };
  return pages;
}

interface VirtualRowProps {
  /** Absent: its page is not loaded yet. */
  row: unknown;
  index: number;
  /** Pixels from the top of the list. */
  start: number;
  size: number;
  columns: ListColumn<unknown>[];
  tracks: string;
  isSelected: boolean;
}

/** Memoized: while the list scrolls, only new rows are rendered. */
const VirtualRow = memo(function VirtualRow(p: VirtualRowProps) {
  const { row, index, start, size, columns, tracks, isSelected } = p;
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className={`${styles.row} ${isSelected ? styles.selected : ''}`}
      style={{ gridTemplateColumns: tracks, height: size, transform: `translateY(${start}px)` }}
    >
      {columns.map(({ id, cell }) => (
        <div role="cell" key={id} className={styles.cell}>
          {row ? cell(row) : <span className={styles.ghost} />}
        </div>
      ))}
    </div>
  );
});
