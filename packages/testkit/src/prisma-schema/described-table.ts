/** A table, described in terms that a schema.prisma and a database share. Names are those of the database. */
export interface DescribedTable {
  name: string;
  columns: DescribedColumn[];
  /** Columns of the primary key, in order. */
  key: string[];
  uniques: NamedColumns[];
  indexes: NamedColumns[];
  /** Indexes that Prisma cannot express (over expressions, partial), as `index name (columns) where (...)`. */
  sqlIndexes: string[];
  references: Reference[];
}

export interface DescribedColumn {
  name: string;
  /** As format_type() of PostgreSQL writes it, without `[]`. */
  type: string;
  isList: boolean;
  isNullable: boolean;
  /** A plain value, an expression, or `autoincrement()`; null: none. */
  default: string | null;
}

export interface NamedColumns {
  name: string;
  columns: string[];
}

export interface Reference extends NamedColumns {
  table: string;
  of: string[];
  onDelete: string;
  onUpdate: string;
}

export interface Described {
  tables: DescribedTable[];
  /** Values by the name of the type. */
  enums: Record<string, string[]>;
}

/** Sorts everything in one order, so that two descriptions can be compared. */
export function inOrder({ tables, enums }: Described): Described {
  const byName = <T extends { name: string }>(list: T[]) =>
    [...list].sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    enums,
    tables: byName(tables).map((table) => ({
      ...table,
      columns: byName(table.columns),
      uniques: byName(table.uniques),
      indexes: byName(table.indexes),
      sqlIndexes: [...table.sqlIndexes].sort(),
      references: byName(table.references),
    })),
  };
}
