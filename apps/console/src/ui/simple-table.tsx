import type { ReactNode } from 'react';
import styles from './simple-table.module.css';

export interface Column<Row> {
  name: string;
  cell: (row: Row) => ReactNode;
  isNumber?: boolean;
}

/** A table for up to a few hundred rows; longer tables are virtual (ui/virtual-list.tsx). */
export function SimpleTable<Row>({
  label,
  columns,
  rows,
  keyOf,
}: {
  label: string;
  columns: Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section className={styles.scroll} aria-label={label} tabIndex={0}>
      <table className={styles.table}>
        <thead>
          <tr>
            {columns.map(({ name, isNumber }) => (
              <th key={name} scope="col" className={isNumber ? styles.number : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ name, cell, isNumber }) => (
                <td key={name} data-name={name} className={isNumber ? styles.number : undefined}>
                  <div>{cell(row)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
