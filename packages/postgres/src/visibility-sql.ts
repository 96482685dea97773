import { type RawBuilder, type SqlBool, sql } from 'kysely';

// The comparisons with a column `visibility`, each written once. `table` is the alias of the table that has the column; without
// it the columns stand alone. The lint refuses such comparisons elsewhere (eslint.config.mjs).

/** Who looks: one user in one tenant. */
export interface Viewer {
  tenant: string;
  username: string;
  isAdministrator: boolean;
}

const column = (table: string | undefined, name: string): string =>
  table === undefined ? name : `${table}.${name}`;

/** Everybody sees the row; text for prepared statements. */
export const globalText = (table?: string): string => `${column(table, 'visibility')} = 'global'`;

/** Everybody sees the row. */
export const isGlobal = (table?: string): RawBuilder<SqlBool> => sql.raw(globalText(table));

/** Only its creator and administrators see the row. */
export const isPrivate = (table?: string): RawBuilder<SqlBool> =>
  sql.raw(`(${column(table, 'visibility')} = 'private')`);

/**
 * The creator of a private row, and of other rows `otherwise` (an expression; null when absent): what counters and node
 * instances keep of their rows. `creator` is the column, or an expression without a table.
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

/** Rows of a tenant at hand that a user of it sees: shared ones, own ones, all for administrators. */
export function sharedOrOwn(
  { username, isAdministrator }: Omit<Viewer, 'tenant'>,
  table?: string,
): RawBuilder<boolean> {
  const visibility = sql.raw(column(table, 'visibility'));
  const creator = sql.raw(column(table, 'created_by'));
  return sql<boolean>`(${visibility} <> 'private' or ${creator} = ${username} or ${isAdministrator})`;
}

/**
 * Rows that `who` sees by name: global ones of every tenant, and of the own tenant shared ones, own ones, all for
 * administrators. Lists ask visibilityScope instead, which knows of all tenants that a principal reaches.
 */
export function visibleTo(who: Viewer, table?: string): RawBuilder<boolean> {
  const [tenant, visibility, creator] = ['tenant', 'visibility', 'created_by'].map((name) =>
    sql.raw(column(table, name)),
  );
  return sql<boolean>`(${visibility} = 'global' or (${tenant} = ${who.tenant} and (${visibility} = 'tenant' or ${creator} = ${who.username} or ${who.isAdministrator})))`;
}
