import type { ComponentProps, ReactNode } from 'react';
import { SimpleTable } from './simple-table';
import { Loaded } from './states';

interface LoadedTableProps<Row> extends Omit<ComponentProps<typeof SimpleTable<Row>>, 'rows'> {
  query: ComponentProps<typeof Loaded<Row[]>>['query'];
  /** Shown when there are no rows. */
  empty: ReactNode;
}

/** A table of the rows of a query. */
export function LoadedTable<Row>({ query, empty, ...table }: LoadedTableProps<Row>) {
  return (
    <Loaded query={query}>
      {(rows) => (rows.length === 0 ? empty : <SimpleTable {...table} rows={rows} />)}
    </Loaded>
  );
}
