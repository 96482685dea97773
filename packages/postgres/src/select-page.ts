import type { ListPage, ListQuery } from '@baton/contracts';
import { isoInstant, parseInstant } from '@baton/kernel';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { AnyQuery } from './transaction-scope';

export interface PageRequest {
  db: AnyQuery;
  /** Table with its joins; joins that only add fields must keep one row per resource. */
  from: RawBuilder<unknown>;
  /**
   * Response field -> expression; a constant needs its type (`true::boolean`). Only fields that the caller asked for are selected.
   */
  columns: Record<string, RawBuilder<unknown>>;
  list: ListQuery;
  /** Conditions besides the caller's filters: tenant scope, filter rules, membership. All must hold. */
  where?: readonly RawBuilder<SqlBool>[];
  /** A unique order that ends every `_sort`, such as sql`b.created_at, b.id`. */
  tieBreak: RawBuilder<unknown>;
  /** Column of `_search`; absent: ignored (reference/rest-api.md 3.4). */
  search?: RawBuilder<unknown>;
  /** Column of `_search_name`; together with `_search` either may match. */
  searchName?: RawBuilder<unknown>;
  /** Filters that are not plain equality on `columns`: another expression, or the whole condition. */
  filters?: Record<string, RawBuilder<unknown> | ((values: string[]) => RawBuilder<SqlBool>)>;
  /** Sort expressions besides `columns`, e.g. `label:<key>`. */
  sorts?: (field: string) => RawBuilder<unknown> | undefined;
  /** Fields that are always selected, because the presentation of a row needs them whatever `_include` says. */
  always?: readonly string[];
  /** Finds the page first by the keys of its rows, so that the fields of skipped rows are not computed. */
  keyed?: {
    /** One key expression, or several. */
    keys: readonly RawBuilder<unknown>[];
    /** The same table again, with its own joins, joined by `page_.key_` (and `page_.key2_`, ...). */
    fields: RawBuilder<unknown>;
  };
  /** Expressions to select instead of `columns`, where `keyed.fields` offers cheaper ones. */
  fields?: Record<string, RawBuilder<unknown>>;
  /** Expression of the total, where it is known without counting the rows. */
  total?: RawBuilder<unknown>;
  /** For a keyed page with `total`: `tieBreak` in the other direction. Pages behind the middle are then searched from the end. */
  tieBreakBack?: RawBuilder<unknown>;
  /** Used instead of `from` and `where` when many rows are skipped before the page: for means that pay only then. */
  far?: { from: RawBuilder<unknown>; where: readonly RawBuilder<SqlBool>[] };
}

/** Number of skipped rows from which it pays to query the total first. */
const FAR_ROWS = 1_000;

/**
 * Selects one page of a list (reference/rest-api.md ch. 3) in one statement. It needs two statements when no row carries the total
 * (a page beyond the end, `_size=0`), or when the page is searched from the nearer end. Filters compare as texts. An unknown filter
 * or sort field is a bug here: packages/http refuses them.
 */
export async function selectPage<Row extends object>(request: PageRequest): Promise<ListPage<Row>> {
  const { list } = request;
  // A sub-select instead of a window: the page may follow an index and stop, and the count reads no wide columns.
  const total = request.total ?? sql`(select count(*) from ${request.from} where ${conditions(request)})`;
  if (!list.getAll && list.size === 0) return { items: [], total: await countRows(request.db, total) };
  const way = await wayTo(request);
  const { rows } = await sql<Row & { total_: number }>`
    select ${selection(request)}, ${list.getAll ? sql`0` : total} as total_ from ${pageOf(request, way)}`.execute(
    request.db,
  );
  const first = rows[0];
  if (first === undefined)
    return { items: [], total: list.getAll || list.offset === 0 ? 0 : await countRows(request.db, total) };
  const count = list.getAll ? rows.length : first.total_;
  return { items: rows.map(({ total_, ...row }) => row as unknown as Row), total: count };
}

interface Way {
  isFromEnd: boolean;
  isFar: boolean;
}

/** Decides only how the page is found, never its content: a total that changes meanwhile makes the query slower at worst. */
async function wayTo({ db, list, total, keyed, tieBreakBack, far }: PageRequest): Promise<Way> {
  if (list.getAll || list.offset < FAR_ROWS) return { isFromEnd: false, isFar: false };
  if (!total || !keyed || !tieBreakBack) return { isFromEnd: false, isFar: far !== undefined };
  const behind = Math.max((await countRows(db, total)) - list.offset - list.size, 0);
  const isFromEnd = behind < list.offset;
  return { isFromEnd, isFar: far !== undefined && (isFromEnd ? behind : list.offset) >= FAR_ROWS };
}

/** The rows of the page in their order: FROM and the clauses behind it. */
function pageOf(request: PageRequest, { isFromEnd, isFar }: Way): RawBuilder<unknown> {
  const { list, keyed, total } = request;
  const { from, where } = isFar ? { ...request, ...request.far! } : request;
  const found = sql`${from} where ${conditions({ ...request, where })}`;
  const limit = list.getAll ? sql`` : sql`limit ${list.size} offset ${list.offset}`;
  if (!keyed) return sql`${found} order by ${order(request, false)} ${limit}`;
  const keys = keyed.keys.map((key, i) => sql`${key} as ${sql.id(i === 0 ? 'key_' : `key${i + 1}_`)}`);
  const page = sql`select ${sql.join(keys)} from ${found} order by ${order(request, isFromEnd)}`;
  // From the end, a last page that is not full would include rows before it; the outer limit cuts them off.
  const placed = isFromEnd
    ? sql`select * from (${page} limit ${list.size} offset greatest(${total} - ${list.offset} - ${list.size}, 0)) last_
        limit greatest(${total} - ${list.offset}, 0)`
    : sql`${page} ${limit}`;
  return sql`(${placed}) page_ join ${keyed.fields} order by ${order(request, false)}`;
}

/** The WHERE of a list without its page, for counts such as `metadata.filtered`. */
export function pageConditions(request: Omit<PageRequest, 'db' | 'from' | 'tieBreak'>): RawBuilder<SqlBool> {
  return conditions(request);
}

async function countRows(db: AnyQuery, total: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ total: number }>`select ${total} as total`.execute(db);
  return rows[0]?.total ?? 0;
}

function selection({ columns: own, fields, list, always = [] }: PageRequest): RawBuilder<unknown> {
  const columns = fields ?? own;
  const names = list.include === null ? Object.keys(columns) : [...new Set([...list.include, ...always])];
  const chosen = names.filter((name) => columns[name] !== undefined);
  // `_include` may name only fields that the service computes by itself.
  if (chosen.length === 0) return sql`1 as one_`;
  return sql.join(chosen.map((name) => sql`${columns[name]} as ${sql.id(name)}`));
}

function order(
  { columns, list, tieBreak, tieBreakBack, sorts }: PageRequest,
  isReversed: boolean,
): RawBuilder<unknown> {
  const keys = list.sort.map(({ field, descending }) => {
    const key = columns[field] ?? sorts?.(field);
    if (!key) throw new Error(`no expression to sort by ${field}`);
    return descending !== isReversed ? sql`${key} desc` : sql`${key} asc`;
  });
  return sql.join([...keys, isReversed ? tieBreakBack! : tieBreak]);
}

function conditions(
  request: Pick<PageRequest, 'columns' | 'filters' | 'list' | 'where' | 'search' | 'searchName'>,
): RawBuilder<SqlBool> {
  const all = [...(request.where ?? [])];
  for (const [field, values] of Object.entries(request.list.filters)) {
    const custom = request.filters?.[field];
    if (typeof custom === 'function') {
      all.push(custom(values));
      continue;
    }
    const column = custom ?? request.columns[field];
    if (!column) throw new Error(`no expression to filter by ${field}`);
    all.push(INSTANTS.test(field) ? equalsInstant(column, values) : equalsAny(column, values));
  }
  const searches = [
    searchIn(request.search, request.list.search),
    searchIn(request.searchName, request.list.searchName),
  ].filter((one) => one !== null);
  if (searches.length > 0) all.push(sql<SqlBool>`(${sql.join(searches, sql` or `)})`);
  return all.length === 0 ? sql<SqlBool>`true` : sql<SqlBool>`${sql.join(all, sql` and `)}`;
}

/** Compares the column as text with `values`; no values: IS NULL. true/false are accepted in any letter case. */
export function equalsAny(column: RawBuilder<unknown>, values: readonly string[]): RawBuilder<SqlBool> {
  if (values.length === 0) return sql<SqlBool>`${column} is null`;
  const texts = values.map((value) => (/^(true|false)$/i.test(value) ? value.toLowerCase() : value));
  const wanted = [...new Set([...values, ...texts])];
  return wanted.length === 1
    ? sql<SqlBool>`(${column})::text = ${wanted[0]}`
    : sql<SqlBool>`(${column})::text = any(${wanted}::text[])`;
}

const INTEGER = /^(0|-?[1-9]\d{0,9})$/;
const MAX_INTEGER = 2 ** 31 - 1;

/**
 * `equalsAny` for a column of type integer, compared as integer: a conversion to text for each of a million rows costs more than
 * the rest, and the planner has no statistics of texts. A value that is not an integer in its usual form matches no row.
 */
export function equalsInteger(column: RawBuilder<unknown>, values: readonly string[]): RawBuilder<SqlBool> {
  if (values.length === 0) return sql<SqlBool>`${column} is null`;
  const numbers = values.filter((value) => INTEGER.test(value)).map(Number);
  const wanted = [...new Set(numbers)].filter((number) => Math.abs(number) <= MAX_INTEGER);
  return wanted.length === 1
    ? sql<SqlBool>`${column} = ${wanted[0]}::integer`
    : sql<SqlBool>`${column} = any(${wanted}::integer[])`;
}

/** `equalsAny` for a column of type boolean. */
export function equalsBoolean(column: RawBuilder<unknown>, values: readonly string[]): RawBuilder<SqlBool> {
  if (values.length === 0) return sql<SqlBool>`${column} is null`;
  const words = values.map((value) => value.toLowerCase());
  const wanted = [
    ...(words.includes('true') ? [sql`${column}`] : []),
    ...(words.includes('false') ? [sql`not ${column}`] : []),
  ];
  return wanted.length === 0 ? sql<SqlBool>`false` : sql<SqlBool>`(${sql.join(wanted, sql` or `)})`;
}

/** Names of fields that hold instants, in every resource. */
const INSTANTS = /(_at|_for|_date|_occurrence)$|^(since|until|last_used)$/;

/** `equalsAny` for an instant as the API shows it, to the millisecond. A value that is not an instant matches no row. */
function equalsInstant(column: RawBuilder<unknown>, values: readonly string[]): RawBuilder<SqlBool> {
  if (values.length === 0) return sql<SqlBool>`${column} is null`;
  const instants = values
    .map(parseInstant)
    .filter((ms) => ms !== null)
    .map(isoInstant);
  return sql<SqlBool>`date_trunc('milliseconds', ${column}) = any(${instants}::timestamptz[])`;
}

function searchIn(column: RawBuilder<unknown> | undefined, text: string | null): RawBuilder<SqlBool> | null {
  if (column === undefined || text === null || text === '') return null;
  return containsText(column, text);
}

/** Case-insensitive substring; wildcards in `text` match literally (reference/rest-api.md 3.2 note 5). */
export function containsText(column: RawBuilder<unknown>, text: string): RawBuilder<SqlBool> {
  const literal = text.normalize('NFKC').replace(/[\\%_]/g, '\\$&');
  return sql<SqlBool>`(${column})::text ilike ${`%${literal}%`}`;
}
