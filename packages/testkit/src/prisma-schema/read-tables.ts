import pg from 'pg';
import { type Described, type DescribedTable, inOrder } from './described-table';

const COLUMNS = `
  select c.relname as table, a.attname as name, t.typcategory = 'A' as is_list, not a.attnotnull as is_nullable,
    format_type(case when t.typcategory = 'A' then t.typelem else t.oid end, a.atttypmod) as type,
    case when a.attidentity <> '' then 'autoincrement()' else pg_get_expr(d.adbin, d.adrelid) end as default
  from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_type t on t.oid = a.atttypid
  left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where c.relnamespace = $1::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    and a.attnum > 0 and not a.attisdropped and c.relname <> 'schema_migrations'`;

const INDEXES = `
  select t.relname as table, i.relname as name, x.indisprimary as is_key, x.indisunique as is_unique,
    x.indexprs is not null or x.indpred is not null or exists (select from unnest(x.indoption) o where o <> 0) as is_sql,
    pg_get_indexdef(x.indexrelid) as definition,
    array(select a.attname::text from unnest(x.indkey) with ordinality k (attnum, place)
      join pg_attribute a on a.attrelid = x.indrelid and a.attnum = k.attnum order by place) as columns
  from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
  where t.relnamespace = $1::regnamespace and t.relname <> 'schema_migrations'`;

const names = (list: string, table: string) =>
  `array(select a.attname::text from unnest(${list}) with ordinality k (attnum, place)
    join pg_attribute a on a.attrelid = ${table} and a.attnum = k.attnum order by place)`;
const REFERENCES = `
  select t.relname as table, r.conname as name, o.relname as target, r.confdeltype as on_delete, r.confupdtype as on_update,
    ${names('r.conkey', 'r.conrelid')} as columns, ${names('r.confkey', 'r.confrelid')} as of
  from pg_constraint r join pg_class t on t.oid = r.conrelid join pg_class o on o.oid = r.confrelid
  where r.contype = 'f' and t.relnamespace = $1::regnamespace`;

const ENUMS = `
  select t.typname as name, array_agg(e.enumlabel::text order by e.enumsortorder) as values
  from pg_type t join pg_enum e on e.enumtypid = t.oid where t.typnamespace = $1::regnamespace group by 1`;

const ACTIONS: Record<string, string> = {
  a: 'NoAction',
  r: 'Restrict',
  c: 'Cascade',
  n: 'SetNull',
  d: 'SetDefault',
};

/** Reads the tables and enums that the migrations have made in `schema`, in order. */
export async function readTables(url: string, schema: string): Promise<Described> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // PostgreSQL prints names of this schema and of `baton` without the schema.
    await client.query(`set search_path = "${schema}", baton`);
    const rowsOf = async (text: string) => (await client.query(text, [schema])).rows;
    const tables = new Map<string, DescribedTable>();
    for (const row of await rowsOf(COLUMNS)) addColumn(tables, row);
    for (const row of await rowsOf(INDEXES)) addIndex(tables.get(row.table)!, row);
    for (const row of await rowsOf(REFERENCES)) {
      const { name, columns, target, of } = row;
      const actions = { onDelete: ACTIONS[row.on_delete]!, onUpdate: ACTIONS[row.on_update]! };
      tables.get(row.table)!.references.push({ name, columns, table: target, of, ...actions });
    }
    const enums = Object.fromEntries((await rowsOf(ENUMS)).map(({ name, values }) => [name, values]));
    return inOrder({ tables: [...tables.values()], enums });
  } finally {
    await client.end();
  }
}

interface ColumnRow {
  table: string;
  name: string;
  is_list: boolean;
  is_nullable: boolean;
  type: string;
  default: string | null;
}

function addColumn(tables: Map<string, DescribedTable>, row: ColumnRow): void {
  let table = tables.get(row.table);
  if (!table) {
    table = {
      name: row.table,
      columns: [],
      key: [],
      uniques: [],
      indexes: [],
      sqlIndexes: [],
      references: [],
    };
    tables.set(row.table, table);
  }
  table.columns.push({
    name: row.name,
    type: row.type,
    isList: row.is_list,
    isNullable: row.is_nullable,
    default: row.default === null ? null : plainDefault(row.default),
  });
}

/** Returns x for `'x'::text`. */
function plainDefault(expression: string): string {
  const text = /^'((?:[^']|'')*)'::[\w ]+(?:\[\])?$/.exec(expression)?.[1];
  return text === undefined ? expression : text.replaceAll("''", "'");
}

interface IndexRow {
  name: string;
  is_key: boolean;
  is_unique: boolean;
  is_sql: boolean;
  definition: string;
  columns: string[];
}

function addIndex(table: DescribedTable, row: IndexRow): void {
  const { name, columns } = row;
  if (row.is_key) table.key = columns;
  else if (row.is_sql) table.sqlIndexes.push(shortIndex(row.definition));
  else (row.is_unique ? table.uniques : table.indexes).push({ name, columns });
}

/** Shortens an index definition of PostgreSQL to `index name (columns) where (...)`. */
function shortIndex(definition: string): string {
  return definition
    .replace(/^CREATE (UNIQUE )?INDEX (\S+) ON \S+ USING (\w+) /, (_, unique, name, method) =>
      [unique ? 'unique index' : 'index', name, method === 'btree' ? '' : `${method} `]
        .filter(Boolean)
        .join(' ')
        .concat(' '),
    )
    .replace(' WHERE ', ' where ');
}
