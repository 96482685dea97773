import type { Db, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { DB as Tables } from './tables.gen';

/** Most live tokens of one user from GET /tokens; a new one replaces the oldest. */
const MAX_SESSION_TOKENS = 1_000;

export interface NewTokenRow {
  id: string;
  user_id: number;
  secret_hash: Buffer;
  description: string | null;
  expiration_date: string | null;
  is_session: boolean;
}

export async function insertToken(tx: Tx<Tables>, row: NewTokenRow): Promise<void> {
  await tx.insertInto('tokens').values(row).execute();
}

export async function deleteExpiredTokensOf(tx: Tx<Tables>, userId: number): Promise<void> {
  await tx
    .deleteFrom('tokens')
    .where('user_id', '=', userId)
    .where('expiration_date', '<=', sql<string>`app_now()`)
    .execute();
}

/**
 * Deletes at most `limit` tokens that expired over `keepMs` ago; returns their number. Skips rows that another replica is deleting.
 */
export async function deleteLongExpiredTokens(
  db: Db<Tables>['query'],
  keepMs: number,
  limit: number,
): Promise<number> {
  const done = await sql`delete from tokens where id in (
    select id from tokens where expiration_date < app_now() - ${keepMs}::float8 * interval '1 millisecond'
    limit ${limit} for update skip locked)`.execute(db);
  return Number(done.numAffectedRows);
}

/** Deletes all but the newest session tokens of the user. */
export async function trimSessionTokens(tx: Tx<Tables>, userId: number): Promise<void> {
  await sql`delete from tokens where id in (
    select id from tokens where user_id = ${userId} and is_session
    order by created_at desc, id offset ${MAX_SESSION_TOKENS})`.execute(tx);
}

/** Deletes a token of `userId`, or of any user when null; returns its owner's name. */
export async function deleteToken(
  tx: Tx<Tables>,
  id: string,
  userId: number | null,
): Promise<string | undefined> {
  const { rows } = await sql<{ username: string }>`delete from tokens t using users u
    where t.id = ${id} and u.id = t.user_id ${userId === null ? sql`` : sql`and t.user_id = ${userId}`}
    returning u.username`.execute(tx);
  return rows[0]?.username;
}
