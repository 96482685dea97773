import { createHash } from 'node:crypto';
import type { ListPage, ListQuery } from '@baton/contracts';
import { badParameter, isoInstant, isUuid } from '@baton/kernel';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type PageRequest, pageConditions, selectPage } from './select-page';

/** A column that is never null, and the type in which its values are compared. */
export interface KeyColumn {
  column: RawBuilder<unknown>;
  type: 'timestamptz' | 'text' | 'bigint' | 'uuid';
}

/** How a list is read from a given row on. */
export interface Keyset {
  /** Fields by which a list with cursors may be sorted. */
  sorts: Readonly<Record<string, KeyColumn>>;
  /** The columns of the page's `tieBreak`, in its order; ascending. A field of `sorts` has the same name here. */
  ties: Readonly<Record<string, KeyColumn>>;
  /** The ties descend where the last sort does. */
  tiesFollow?: true;
  /** Whose list it is: a cursor of another tenant is refused. */
  scope: string;
  /** What to read instead of the `from` of the page, under the same alias, where it can be said that the page lies in it. */
  near?: (way: Way) => RawBuilder<unknown>;
}

/** Which rows a page consists of: the first `size` in `order` for which `isBehind` holds. */
export interface Way {
  /** Values of the keys of the row before the page, as texts; null for the first page. */
  after: readonly string[] | null;
  isBehind: RawBuilder<SqlBool>;
  order: RawBuilder<unknown>;
  size: number;
}

type Key = KeyColumn & { descending: boolean };

/**
 * Returns a page of a list as `selectPage` does. Where the request has `_after`, returns the rows behind its cursor (from the first
 * row when the cursor is empty), and the cursor of the next page. Such a page is found by the index of its order, however far it
 * is. Rows that are added or deleted before it do not shift it.
 * @throws AppError bad_parameters_error for a cursor of another list or sort, and for parameters that cannot go with a cursor.
 */
export async function selectListPage<Row extends object>(
  request: PageRequest,
  keyset: Keyset,
): Promise<ListPage<Row>> {
  const { list } = request;
  if (!list.keyset) return await selectPage<Row>(request);
  refuseBeside(list);
  const keys = keysOf(list, keyset);
  const print = fingerprint(list, keyset);
  const after = list.keyset.after === '' ? null : valuesOf(list.keyset.after, print, keys);
  const { size } = list;
  const page = await selectPage<Row & Record<string, string>>(behind(request, keys, after, keyset.near));
  const rows = page.items.slice(0, size);
  const last = page.items.length > size ? rows.at(-1)! : null;
  return {
    items: rows.map((row) => withoutKeys(row, keys.length)) as Row[],
    total: page.total,
    next:
      last === null
        ? null
        : cursorOf(
            print,
            keys.map((_, i) => last[nameOf(i)]!),
          ),
  };
}

const nameOf = (index: number): string => `cursor${index}_`;

function withoutKeys<Row extends object>(row: Row, count: number): Row {
  const kept = { ...row } as Record<string, unknown>;
  for (let i = 0; i < count; i++) delete kept[nameOf(i)];
  return kept as Row;
}

function refuseBeside(list: ListQuery): void {
  const [field, expected] =
    list.offset > 0
      ? ['_offset', 'no _offset beside _after']
      : list.getAll
        ? ['_get_all_results', 'no _get_all_results beside _after']
        : list.size === 0
          ? ['_size', 'a _size of at least 1 beside _after']
          : [null, null];
  if (field !== null) throw badParameter(field, `${field} does not go with _after`, { expected });
}

/** The whole order of the list. */
function keysOf({ sort }: ListQuery, { sorts, ties, tiesFollow }: Keyset): Key[] {
  const given = sort.map(({ field, descending }) => {
    const known = sorts[field];
    if (!known)
      throw badParameter('_sort', `_sort: a list sorted by ${field} has no cursor`, {
        expected: Object.keys(sorts),
      });
    return { field, ...known, descending };
  });
  const left = Object.entries(ties).filter(([name]) => given.every(({ field }) => field !== name));
  const descending = tiesFollow === true && (given.at(-1)?.descending ?? false);
  return [...given, ...left.map(([, tie]) => ({ ...tie, descending }))];
}

/** The page and one row more, with the texts of its keys. */
function behind(
  request: PageRequest,
  keys: readonly Key[],
  after: readonly string[] | null,
  near: Keyset['near'],
): PageRequest {
  const { list, columns, fields, always = [], where = [] } = request;
  const way: Way = {
    after,
    isBehind: after === null ? sql<SqlBool>`true` : isBehind(keys, after),
    order: sql.join(keys.map(({ column, descending }) => (descending ? sql`${column} desc` : column))),
    size: list.size + 1,
  };
  const texts = Object.fromEntries(keys.map(({ column }, i) => [nameOf(i), sql`(${column})::text`]));
  const counted =
    request.total ?? sql`(select count(*) from ${request.from} where ${pageConditions(request)})`;
  return {
    ...request,
    columns: { ...columns, ...texts },
    ...(fields && { fields: { ...fields, ...texts } }),
    always: [...always, ...Object.keys(texts)],
    from: near?.(way) ?? request.from,
    where: after === null ? where : [...where, way.isBehind],
    total: list.keyset!.hasTotal ? counted : sql`0::bigint`,
    tieBreak: way.order,
    list: { ...list, sort: [], size: way.size },
  };
}

/**
 * Condition for the rows after the row with these values. Its first part bounds the range of an index, also where directions
 * differ.
 */
function isBehind(keys: readonly Key[], values: readonly string[]): RawBuilder<SqlBool> {
  const valueAt = (i: number) => sql`${values[i]}::${sql.raw(keys[i]!.type)}`;
  const columns = keys.map(({ column }) => column);
  const [first, ...others] = keys;
  if (others.every(({ descending }) => descending === first!.descending))
    return sql<SqlBool>`(${sql.join(columns)}) ${sql.raw(first!.descending ? '<' : '>')} (${sql.join(keys.map((_, i) => valueAt(i)))})`;
  const from = (i: number): RawBuilder<SqlBool> => {
    const { column, descending } = keys[i]!;
    const next = descending
      ? sql<SqlBool>`${column} < ${valueAt(i)}`
      : sql<SqlBool>`${column} > ${valueAt(i)}`;
    return i === keys.length - 1
      ? next
      : sql<SqlBool>`(${next} or (${column} = ${valueAt(i)} and ${from(i + 1)}))`;
  };
  const { column, descending } = first!;
  const bound = descending ? sql`${column} <= ${valueAt(0)}` : sql`${column} >= ${valueAt(0)}`;
  return sql<SqlBool>`(${bound} and ${from(0)})`;
}

/** Hash of the list and its order: a cursor is valid only for the same ones. */
function fingerprint(list: ListQuery, { scope }: Keyset): string {
  const { filters, sort, search, searchName, allTenants, extra } = list;
  const sorted = (of: Record<string, string[]>) => Object.entries(of).sort(([a], [b]) => (a < b ? -1 : 1));
  const about = [scope, sorted(filters), sort, search, searchName, allTenants, sorted(extra)];
  return createHash('sha256').update(JSON.stringify(about)).digest('base64url').slice(0, 16);
}

const cursorOf = (print: string, values: readonly string[]): string =>
  Buffer.from(JSON.stringify([print, ...values])).toString('base64url');

const MAX_CURSOR = 4_096;

/** Whether the database accepts a text as a value of the type: a cursor that somebody made up is bad input, not a fault of ours. */
const IS_OF_TYPE: Record<KeyColumn['type'], (value: string) => boolean> = {
  text: (value) => !value.includes('\0'),
  bigint: (value) => /^-?\d{1,18}$/.test(value),
  uuid: isUuid,
  timestamptz(value) {
    const parts = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(\.\d{1,6})?\+00$/.exec(value);
    const iso = parts && `${parts[1]}T${parts[2]}`;
    const ms = iso === null ? Number.NaN : Date.parse(`${iso}Z`);
    return !Number.isNaN(ms) && isoInstant(ms).startsWith(iso!);
  },
};

/**
 * Reads the key values out of a cursor. @throws AppError bad_parameters_error for a text that is no cursor, or a cursor of another
 * list.
 */
function valuesOf(cursor: string, print: string, keys: readonly Key[]): string[] {
  const parts = cursor.length > MAX_CURSOR ? null : partsOf(cursor);
  if (parts === null)
    throw badParameter('_after', '_after: this is no cursor', {
      expected: 'metadata.pagination.next of the page before, or nothing for the first page',
    });
  const [of, ...values] = parts;
  const isWhole = values.length === keys.length && keys.every(({ type }, i) => IS_OF_TYPE[type](values[i]!));
  if (of !== print || !isWhole)
    throw badParameter('_after', '_after: the cursor belongs to a list with another sort, filter or tenant', {
      expected: 'the _sort, filters and tenant of the page that the cursor came with',
    });
  return values;
}

function partsOf(cursor: string): string[] | null {
  try {
    const read: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    const isCursor = Array.isArray(read) && read.length > 1 && read.every((one) => typeof one === 'string');
    return isCursor ? (read as string[]) : null;
  } catch {
    return null;
  }
}
