import type { ClientBase } from 'pg';

export interface TableShape {
  name: string;
  /** Columns, sorted by name; generated columns are left out, because their values follow from the others. */
  columns: string[];
  /** Columns whose values come from a sequence. */
  sequences: string[];
  /** Tables to which this table refers. */
  refersTo: string[];
}

export const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const SHAPES = `
select c.relname as name,
  (select coalesce(json_agg(a.attname order by a.attname collate "C"), '[]') from pg_attribute a
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
  (select coalesce(json_agg(a.attname order by a.attname), '[]') from pg_attribute a
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      and pg_get_serial_sequence(quote_ident(n.nspname) || '.' || quote_ident(c.relname), a.attname) is not null) as sequences,
  (select coalesce(json_agg(distinct r.relname), '[]') from pg_constraint f join pg_class r on r.oid = f.confrelid
    where f.conrelid = c.oid and f.contype = 'f' and f.confrelid <> c.oid) as refers
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname = $1 and c.relkind in ('r', 'p') and not c.relispartition
order by c.relname collate "C"`;

/** Reads every table of `schema` as it is now: the database determines the content of a snapshot, not a list kept by hand. */
export async function readShapes(client: ClientBase, schema: string): Promise<TableShape[]> {
  const { rows } = await client.query(SHAPES, [schema]);
  return rows.map(({ name, columns, sequences, refers }) => ({ name, columns, sequences, refersTo: refers }));
}

/**
 * Returns the tables so that each comes behind the tables to which it refers.
 * @throws Error for references in a circle, which no order can load.
 */
export function inLoadOrder(shapes: readonly TableShape[]): TableShape[] {
  const ordered: TableShape[] = [];
  let waiting = [...shapes];
  while (waiting.length > 0) {
    const names = new Set(waiting.map((shape) => shape.name));
    const ready = waiting.filter((shape) => !shape.refersTo.some((name) => names.has(name)));
    if (ready.length === 0)
      throw new Error(`tables refer to each other in a circle: ${[...names].join(', ')}`);
    ordered.push(...ready);
    waiting = waiting.filter((shape) => !ready.includes(shape));
  }
  return ordered;
}

/** Returns the migrations that ran, in order. */
export async function readMigrations(client: ClientBase, schema: string): Promise<string[]> {
  const { rows } = await client.query(`select name from ${quote(schema)}.schema_migrations order by name`);
  return rows.map(({ name }) => name as string);
}
