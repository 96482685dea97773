/** Wrong user codes of each user. */
import type { Db } from '@baton/postgres';
import { sql } from 'kysely';
import type { DB as Tables } from '../../store/tables.gen';

type Query = Db<Tables>['query'];

interface TryLimits {
  free: number;
  windowMs: number;
  firstWaitMs: number;
  longestWaitMs: number;
}

/**
 * Counts one code before it is looked up; returns false while the user has to wait. One statement, so that codes that are sent at
 * once count like codes one after the other. A good code is given back by `returnTry`.
 */
export async function takeTry(db: Query, userId: number, limits: TryLimits): Promise<boolean> {
  const { free, windowMs, firstWaitMs, longestWaitMs } = limits;
  const isOld = sql`t.began_at <= app_now() - ${windowMs}::float8 * interval '1 millisecond'`;
  // Counted so far, with this one; 2^30 is far above the longest wait.
  const over = sql`least(t.count + 1 - ${free}::integer, 30)`;
  const done = await sql`insert into device_code_tries as t (user_id, count) values (${userId}, 1)
    on conflict (user_id) do update set
      count = case when ${isOld} then 1 else t.count + 1 end,
      began_at = case when ${isOld} then app_now() else t.began_at end,
      blocked_until = case when ${isOld} or ${over} <= 0 then app_now() else app_now() +
        least(${longestWaitMs}::float8, ${firstWaitMs}::float8 * 2 ^ (${over} - 1)) * interval '1 millisecond' end
    where t.blocked_until <= app_now()`.execute(db);
  return done.numAffectedRows === 1n;
}

/** Takes back what `takeTry` counted: the code was good. Earlier wrong codes still count. */
export async function returnTry(db: Query, userId: number): Promise<void> {
  await sql`update device_code_tries set count = greatest(count - 1, 0), blocked_until = app_now()
    where user_id = ${userId}`.execute(db);
}

/** Returns the time until the user may enter a code again, in whole seconds, at least 1. */
export async function waitOf(db: Query, userId: number): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    select ceil(extract(epoch from blocked_until - app_now()))::integer as seconds
    from device_code_tries where user_id = ${userId}`.execute(db);
  return Math.max(1, rows[0]?.seconds ?? 1);
}

/** Deletes at most `limit` counters whose window is over; returns their number. */
export async function deleteOldTries(db: Query, windowMs: number, limit: number): Promise<number> {
  const done = await sql`delete from device_code_tries where user_id in (
    select user_id from device_code_tries
    where began_at <= app_now() - ${windowMs}::float8 * interval '1 millisecond' and blocked_until <= app_now()
    limit ${limit} for update skip locked)`.execute(db);
  return Number(done.numAffectedRows);
}
