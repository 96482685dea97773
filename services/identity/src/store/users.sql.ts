import type { Tx } from '@baton/postgres';
import { sql } from 'kysely';
import { model } from './model';
import type { DB as Tables } from './tables.gen';

export interface UserRow {
  id: number;
  username: string;
  role: string;
  active: boolean;
  password_hash: string;
}

const byName = (username: string) => sql<boolean>`lower(username) = lower(${username})`;

/** Returns the user called `username` in any letter case; the row is locked until the transaction ends. */
export async function lockUser(tx: Tx<Tables>, username: string): Promise<UserRow | undefined> {
  return tx
    .selectFrom('users')
    .select(['id', 'username', 'role', 'active', 'password_hash'])
    .where(byName(username))
    .forUpdate()
    .executeTakeFirst();
}

/**
 * Returns the ids of the active system administrators, locked in the order of their ids. A transaction that removes one of them
 * must lock all, so that two such transactions cannot each leave the other's administrator as the last one.
 */
export async function lockActiveAdmins(tx: Tx<Tables>): Promise<number[]> {
  const rows = await tx
    .selectFrom('users')
    .select('id')
    .where('role', '=', 'sys_admin')
    .where('active', '=', true)
    .orderBy('id')
    .forUpdate()
    .execute();
  return rows.map((row) => row.id);
}

export interface NewUserRow {
  id?: number;
  username: string;
  password_hash: string;
  role: string;
  created_at?: string;
  first_login_at?: string | null;
  last_login_at?: string | null;
}

/** @throws unique violation of users_username_key when the name is taken in any letter case. */
export async function insertUser(tx: Tx<Tables>, row: NewUserRow): Promise<number> {
  return (await tx.insertInto('users').values(row).returning('id').executeTakeFirstOrThrow()).id;
}

export interface UserChanges {
  password_hash?: string;
  role?: string;
  active?: boolean;
  show_getting_started?: boolean;
  failed_logins?: number;
}

export async function updateUser(tx: Tx<Tables>, id: number, changes: UserChanges): Promise<void> {
  await model.over(tx, (p) => p.user.updateMany({ where: { id }, data: changes }));
}

export async function deleteUser(tx: Tx<Tables>, id: number): Promise<void> {
  await model.over(tx, (p) => p.user.deleteMany({ where: { id } }));
}

/** Deletes the tokens from GET /tokens that were made with the password that has just changed. */
export async function deleteSessionTokens(tx: Tx<Tables>, userId: number): Promise<void> {
  await tx.deleteFrom('tokens').where('user_id', '=', userId).where('is_session', '=', true).execute();
}
