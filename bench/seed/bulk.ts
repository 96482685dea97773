// Fills large tables quickly with SQL alone: rows are cloned from one real row, secondary indexes are built afterwards.
import type pg from 'pg';

/** Returns the writable columns of a table in order; generated columns are left out. */
async function columnsOf(client: pg.Client, table: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select attname as name from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`,
    [table],
  );
  return rows.map((row) => row.name);
}

export interface Clone {
  /** Table name with its schema. */
  table: string;
  /** Expressions for the columns that differ; other columns are copied from the row `p`. Null: the column's default. */
  change: Record<string, string | null>;
  /** FROM and WHERE clauses; must name the row to copy `p`. */
  from: string;
}

/** Inserts clones of the rows of `from` with `change` applied; columns added by later migrations are copied automatically. */
export async function clone(client: pg.Client, { table, change, from }: Clone): Promise<number> {
  const columns = (await columnsOf(client, table)).filter((name) => change[name] !== null);
  const unknown = Object.keys(change).find((name) => change[name] !== null && !columns.includes(name));
  if (unknown) throw new Error(`${table} has no column ${unknown}`);
  const values = columns.map((name) => change[name] ?? `p."${name}"`);
  const { rowCount } = await client.query(
    `insert into ${table} (${columns.map((name) => `"${name}"`).join(', ')}) overriding system value
     select ${values.join(', ')} ${from}`,
  );
  return rowCount ?? 0;
}

/** Runs `fill` without the indexes of `tables` that no constraint needs, then rebuilds them. */
export async function withoutIndexes(
  client: pg.Client,
  tables: readonly string[],
  fill: () => Promise<void>,
): Promise<void> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
     from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indrelid = any($1::regclass[]) and not i.indisunique and not c.relispartition`,
    [tables],
  );
  for (const { name } of rows) await client.query(`drop index ${name}`);
  await fill();
  // The definition of an index on a partitioned table contains ONLY, which would leave its partitions without the index.
  for (const { definition } of rows) await client.query(definition.replace(' ON ONLY ', ' ON '));
}

/**
 * Returns an SQL expression for an id in the form of UUIDv7. `at`: a timestamptz expression; `n`: an integer that makes the id
 * unique.
 */
export const uuid7 = (at: string, n: string): string =>
  `(lpad(to_hex((extract(epoch from ${at}) * 1000)::bigint), 12, '0') || '7' || lpad(to_hex((${n}) % 4096), 3, '0') || '8000' || lpad(to_hex(${n}), 12, '0'))::uuid`;
