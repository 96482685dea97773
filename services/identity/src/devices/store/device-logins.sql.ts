/** Logins that programs ask for. Every statement takes a login that is over for one that is not there. */
import type { Db, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { DB as Tables } from '../../store/tables.gen';
import {
  type DeviceLoginState,
  EARLY_MS,
  INTERVAL_S,
  LONGEST_INTERVAL_S,
  SLOWER_S,
} from '../domain/device-login';

type Query = Db<Tables>['query'];

const after = (ms: number) => sql`app_now() + ${ms}::float8 * interval '1 millisecond'`;

/** Makes the beginnings of logins follow one another until the transaction ends, so that their limits hold. */
export async function lockBeginnings(tx: Tx<Tables>): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('baton.device_logins'))`.execute(tx);
}

/** Counts the open logins of the address, and of all. */
export async function countOpen(tx: Tx<Tables>, address: string): Promise<{ mine: number; all: number }> {
  const { rows } = await sql<{ mine: number; all: number }>`
    select count(*) filter (where address = ${address})::integer as mine, count(*)::integer as "all"
    from device_logins where expires_at > app_now()`.execute(tx);
  return rows[0]!;
}

export interface NewDeviceLogin {
  id: string;
  secretHash: Buffer;
  userCodeHash: Buffer;
  clientName: string;
  address: string;
  lifeMs: number;
}

/** Inserts a login; returns false when another one has the same user code. */
export async function insertLogin(tx: Tx<Tables>, row: NewDeviceLogin): Promise<boolean> {
  const done = await sql`insert into device_logins
      (id, secret_hash, user_code_hash, client_name, address, interval_s, expires_at)
    values (${row.id}, ${row.secretHash}, ${row.userCodeHash}, ${row.clientName}, ${row.address}, ${INTERVAL_S},
      ${after(row.lifeMs)})
    on conflict (user_code_hash) do nothing`.execute(tx);
  return done.numAffectedRows === 1n;
}

export interface DeviceLoginRow {
  client_name: string;
  address: string;
  state: DeviceLoginState;
  created_at: string;
  expires_at: string;
  age_s: number;
}

const shown = sql`client_name, address, state, created_at, expires_at,
  extract(epoch from app_now() - created_at)::integer as age_s`;

export async function findByUserCode(db: Query, userCodeHash: Buffer): Promise<DeviceLoginRow | undefined> {
  const { rows } = await sql<DeviceLoginRow>`select ${shown} from device_logins
    where user_code_hash = ${userCodeHash} and expires_at > app_now()`.execute(db);
  return rows[0];
}

/** Decides a login that is in the state `from`; returns undefined when it is not, or not any more. */
export async function decideLogin(
  tx: Tx<Tables>,
  userCodeHash: Buffer,
  { from, to, approvedBy }: { from: DeviceLoginState; to: DeviceLoginState; approvedBy: number | null },
): Promise<DeviceLoginRow | undefined> {
  const { rows } = await sql<DeviceLoginRow>`update device_logins
    set state = ${to}, approved_by = ${approvedBy}
    where user_code_hash = ${userCodeHash} and state = ${from} and expires_at > app_now()
    returning ${shown}`.execute(tx);
  return rows[0];
}

export interface PolledLogin {
  state: DeviceLoginState;
  approved_by: number | null;
  /** Name of the user who approved. */
  username: string | null;
  interval_s: number;
  is_early: boolean;
}

/**
 * Notes that the program asks for its token, and makes its interval longer when it asks too early. One statement: of two requests
 * at once the second is early.
 */
export async function notePoll(db: Query, id: string, secretHash: Buffer): Promise<PolledLogin | undefined> {
  const { rows } = await sql<PolledLogin>`with found as (
      select id, state, approved_by, coalesce(
        last_polled_at > app_now() - (interval_s * 1000 - ${EARLY_MS}::integer) * interval '1 millisecond', false) as is_early
      from device_logins where id = ${id} and secret_hash = ${secretHash} and expires_at > app_now() for update)
    update device_logins d set last_polled_at = app_now(), interval_s = case when f.is_early
      then least(d.interval_s + ${SLOWER_S}::integer, ${LONGEST_INTERVAL_S}::integer) else d.interval_s end
    from found f where d.id = f.id
    returning f.state, f.approved_by, f.is_early, d.interval_s,
      (select username from users where id = f.approved_by) as username`.execute(db);
  return rows[0];
}

/** Deletes an approved login in order to make its token; returns undefined when another request was first, or it is over. */
export async function takeApproved(
  tx: Tx<Tables>,
  id: string,
  userId: number,
): Promise<Pick<DeviceLoginRow, 'client_name' | 'address' | 'created_at'> | undefined> {
  const { rows } = await sql<DeviceLoginRow>`delete from device_logins
    where id = ${id} and state = 'approved' and approved_by = ${userId} and expires_at > app_now()
    returning client_name, address, created_at`.execute(tx);
  return rows[0];
}

/** Deletes at most `limit` logins that are over; returns their number. Skips rows that another replica is deleting. */
export async function deleteEndedLogins(db: Query, limit: number): Promise<number> {
  const done = await sql`delete from device_logins where id in (
    select id from device_logins where expires_at <= app_now() limit ${limit} for update skip locked)`.execute(
    db,
  );
  return Number(done.numAffectedRows);
}
