/**
 * Sessions of browsers, and the codes of sign-in links that open them. SQL instead of Prisma: a session is read for each
 * credential.
 */
import type { Db, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { DB as Tables } from './tables.gen';

/** Most live sessions of one user; a new one replaces the oldest. */
const MAX_SESSIONS = 100;

export interface NewSessionRow {
  id: string;
  userId: number;
  secretHash: Buffer;
  lifeMs: number;
}

const after = (ms: number) => sql`app_now() + ${ms}::float8 * interval '1 millisecond'`;
const before = (ms: number) => sql`app_now() - ${ms}::float8 * interval '1 millisecond'`;

/**
 * Locks the user's row until the transaction ends. A concurrent change of the password or end of the account therefore either sees
 * the new session or is seen here. Sign-ins of one user run one after the other, so that the limit on sessions holds. Returns false
 * when the user is inactive, or has another password than the one with this hash.
 */
export async function holdUser(
  tx: Tx<Tables>,
  userId: number,
  passwordHash: string | null,
): Promise<boolean> {
  const isSame = passwordHash === null ? sql`true` : sql`password_hash = ${passwordHash}`;
  const { rows } = await sql`
    select id from users where id = ${userId} and active and ${isSame} for no key update`.execute(tx);
  return rows.length > 0;
}

export async function insertSession(
  tx: Tx<Tables>,
  { id, userId, secretHash, lifeMs }: NewSessionRow,
): Promise<void> {
  await sql`insert into sessions (id, user_id, secret_hash, expires_at)
    values (${id}, ${userId}, ${secretHash}, ${after(lifeMs)})`.execute(tx);
}

/** Deletes all but the newest MAX_SESSIONS sessions of the user. */
export async function trimSessions(tx: Tx<Tables>, userId: number): Promise<void> {
  await sql`delete from sessions where id in (
    select id from sessions where user_id = ${userId} order by created_at desc, id offset ${MAX_SESSIONS})`.execute(
    tx,
  );
}

export async function findSession(
  db: Db<Tables>['query'],
  id: string,
): Promise<{ created_at: string; expires_at: string } | undefined> {
  return db
    .selectFrom('sessions')
    .select(['created_at', 'expires_at'])
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Locks the session against its end until the transaction ends; returns false when it was already gone. */
export async function holdSession(tx: Tx<Tables>, id: string): Promise<boolean> {
  const { rows } = await sql`select id from sessions where id = ${id} for key share`.execute(tx);
  return rows.length > 0;
}

/** Deletes a session; returns false when it was already gone. */
export async function deleteSession(tx: Tx<Tables>, id: string): Promise<boolean> {
  const done = await tx.deleteFrom('sessions').where('id', '=', id).executeTakeFirst();
  return done.numDeletedRows > 0n;
}

/** Deletes every session of the user, every code that would open one, and every login of a program that a session approved. */
export async function deleteSessionsOf(tx: Tx<Tables>, userId: number): Promise<void> {
  await tx.deleteFrom('sessions').where('user_id', '=', userId).execute();
  await tx.deleteFrom('device_logins').where('approved_by', '=', userId).execute();
  await deleteCodesOf(tx, userId);
}

/** Deletes at most `limit` sessions that have ended, by their end or because they were not used; returns their number. */
export async function deleteEndedSessions(
  db: Db<Tables>['query'],
  idleMs: number,
  limit: number,
): Promise<number> {
  const done = await sql`delete from sessions where id in (
    select id from sessions where expires_at <= app_now() or last_used_at <= ${before(idleMs)}
    limit ${limit} for update skip locked)`.execute(db);
  return Number(done.numAffectedRows);
}

/** Deletes at most `limit` expired codes; returns their number. */
export async function deleteOldCodes(db: Db<Tables>['query'], limit: number): Promise<number> {
  const done = await sql`delete from sign_in_codes where id in (
    select id from sign_in_codes where expires_at <= app_now() limit ${limit} for update skip locked)`.execute(
    db,
  );
  return Number(done.numAffectedRows);
}

export async function deleteCodesOf(tx: Tx<Tables>, userId: number): Promise<void> {
  await tx.deleteFrom('sign_in_codes').where('user_id', '=', userId).execute();
}

/** Deletes a code in order to use it; returns false when another request was first, or the code has expired. */
export async function takeCode(tx: Tx<Tables>, id: string): Promise<boolean> {
  const done = await sql`delete from sign_in_codes where id = ${id} and expires_at > app_now()`.execute(tx);
  return done.numAffectedRows === 1n;
}

/** Inserts a code; returns false when the user does not exist or is inactive. */
export async function insertCode(
  tx: Tx<Tables>,
  row: { id: string; userId: number; secretHash: Buffer; lifeMs: number },
): Promise<boolean> {
  const done = await sql`insert into sign_in_codes (id, user_id, secret_hash, expires_at)
    select ${row.id}, u.id, ${row.secretHash}, ${after(row.lifeMs)} from users u
    where u.id = ${row.userId} and u.active`.execute(tx);
  return done.numAffectedRows === 1n;
}
