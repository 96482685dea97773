import { type RawBuilder, type SqlBool, sql } from 'kysely';

// The comparisons with a column `visibility`, each written once. `table` is the alias of the table that has the column; without
// it the columns stand alone. The lint refuses such comparisons elsewhere (eslint.config.mjs).

/** The caller of a query: one user in one tenant. */
export interface Viewer {
  tenant: string;
  username: string;
  isAdministrator: boolean;
}

const column = (table: string | undefined, name: string): string =>
  table === undefined ? name : `${table}.${name}`;

/** Condition that everybody sees the row, as text for prepared statements. */
export const globalText = (table?: string): string => `${column(table, 'visibility')} = 'global'`;

/** Condition that everybody sees the row. */
export const isGlobal = (table?: string): RawBuilder<SqlBool> => sql.raw(globalText(table));

/** Condition that only its creator and administrators see the row. */
export const isPrivate = (table?: string): RawBuilder<SqlBool> =>
  sql.raw(`(${column(table, 'visibility')} = 'private')`);

/**
 * The creator for a private row, and `otherwise` for other rows (an expression; null when absent). Counters and node instances keep
 * this value of their rows. `creator` is the column, or an expression without a table.
 */
export function privateCreatorText({
  table,
  creator = column(table, 'created_by'),
  otherwise,
}: {
  table?: string;
  creator?: string;
  otherwise?: string;
}): string {
  const rest = otherwise === undefined ? '' : ` else ${otherwise}`;
  return `case when ${column(table, 'visibility')} = 'private' then ${creator}${rest} end`;
}

/** Condition for the rows of one tenant that a user of it sees: shared rows, own rows, and all rows for administrators. */
export function sharedOrOwn(
  { username, isAdministrator }: Omit<Viewer, 'tenant'>,
  table?: string,
): RawBuilder<boolean> {
  const visibility = sql.raw(column(table, 'visibility'));
  const creator = sql.raw(column(table, 'created_by'));
  return sql<boolean>`(${visibility} <> 'private' or ${creator} = ${username} or ${isAdministrator})`;
}

/**
 * Condition for the rows that `who` can see by name: global rows of every tenant, and of the own tenant shared rows, own rows, and
 * all rows for administrators. Lists use visibilityScope instead, which covers all tenants that a principal reaches.
 */
export function visibleTo(who: Viewer, table?: string): RawBuilder<boolean> {
  const [tenant, visibility, creator] = ['tenant', 'visibility', 'created_by'].map((name) =>
    sql.raw(column(table, name)),
  );
  return sql<boolean>`(${visibility} = 'global' or (${tenant} = ${who.tenant} and (${visibility} = 'tenant' or ${creator} = ${who.username} or ${who.isAdministrator})))`;
}
