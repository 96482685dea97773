import type { Db, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { DB } from '../../store/tables.gen';
import type { DeliveryState } from '../domain/delivery.machine';

type Reader = Db<DB>['query'] | Tx<DB>;

export interface NewDelivery {
  id: string;
  webhook: string;
  tenant: string;
  event_id: string;
  event: string;
  order_key: string | null;
  payload: string;
  content_type: string;
}

/** A delivery that this process has leased, with the part of its webhook that an attempt needs. */
export interface LeasedDelivery {
  id: string;
  webhook: string;
  tenant: string;
  webhook_id: string;
  url: string;
  host: string;
  payload: string;
  content_type: string;
  attempts: number;
  max_attempts: number;
  give_up_ms: number;
  /** Time of the database, epoch ms: due times follow it. */
  now_ms: number;
  sealed: Buffer;
}

/** Writes one delivery; false when the webhook has one of this event already. */
export async function insertDelivery(tx: Tx<DB>, row: NewDelivery, giveUpMs: number): Promise<boolean> {
  const done = await sql`
    insert into webhook_deliveries (id, webhook, tenant, event_id, event, order_key, payload, content_type, give_up_at)
    values (${row.id}, ${row.webhook}, ${row.tenant}, ${row.event_id}, ${row.event}, ${row.order_key}, ${row.payload},
      ${row.content_type}, app_now() + ${giveUpMs}::float8 * interval '1 millisecond')
    on conflict (webhook, event_id) do nothing`.execute(tx);
  return done.numAffectedRows === 1n;
}

/** Whether at least `limit` deliveries of the webhook wait. */
export async function hasWaiting(tx: Tx<DB>, webhook: string, limit: number): Promise<boolean> {
  const { rows } = await sql`select from webhook_deliveries where webhook = ${webhook} and state = 'pending'
    offset ${limit - 1} limit 1`.execute(tx);
  return rows.length > 0;
}

const IS_FREE = sql`d.state = 'pending' and (d.lease_until is null or d.lease_until < app_now())`;

export async function hasDue(db: Reader): Promise<boolean> {
  const { rows } =
    await sql`select from webhook_deliveries d where d.next_attempt_at <= app_now() and ${IS_FREE}
    limit 1`.execute(db);
  return rows.length > 0;
}

export interface Room {
  /** The most deliveries that are leased now. */
  limit: number;
  /** The most that are under way at one webhook, in all replicas. */
  perWebhook: number;
  /** The most of one tenant in one call. */
  perTenant: number;
  /** Tenants that have no room left in this process. */
  fullTenants: readonly string[];
  /** From this number of failures, a host gets one request at a time. */
  breakerFailures: number;
}

/**
 * Leases due deliveries for one attempt each, of as many webhooks as there is room for, in random order of the webhooks. A webhook
 * with room gets its oldest due ones. Of deliveries with an order key, only the first one of the key is taken. Two replicas that
 * choose the same row: the second one waits for the first and finds the row leased.
 */
export async function leaseDeliveries(
  db: Reader,
  owner: string,
  leaseMs: number,
  room: Room,
): Promise<LeasedDelivery[]> {
  const { rows } = await sql<LeasedDelivery>`
    with due as (
      select c.id, row_number() over (partition by w.tenant order by random()) as place
      from webhooks w
        left join webhook_hosts h on h.tenant = w.tenant and h.host = w.host
        cross join lateral (select count(*) as count from webhook_deliveries f
          where f.webhook = w.uid and f.lease_owner is not null and f.lease_until >= app_now()) under_way
        cross join lateral (select d.id from webhook_deliveries d
          where d.webhook = w.uid and d.next_attempt_at <= app_now() and ${IS_FREE}
            and (d.order_key is null or not exists (select from webhook_deliveries e
              where e.webhook = d.webhook and e.order_key = d.order_key and e.state = 'pending' and e.seq < d.seq))
          order by d.next_attempt_at
          limit greatest(0, (case when coalesce(h.failures, 0) >= ${room.breakerFailures}::int then 1
            else ${room.perWebhook}::int end) - under_way.count)) c
      where w.is_enabled and (h.open_until is null or h.open_until <= app_now())
        and w.tenant <> all(${[...room.fullTenants]}::text[])
    ), chosen as (select id from due where place <= ${room.perTenant}::int order by place, random() limit ${room.limit}::int)
    update webhook_deliveries d set lease_owner = ${owner}, attempts = d.attempts + 1,
      lease_until = app_now() + ${leaseMs}::float8 * interval '1 millisecond'
    from webhooks w where d.id in (select id from chosen) and w.uid = d.webhook and ${IS_FREE}
    returning d.id, d.webhook, d.tenant, w.id as webhook_id, w.url, w.host, d.payload, d.content_type, d.attempts,
      w.max_attempts, extract(epoch from d.give_up_at)::float8 * 1000 as give_up_ms,
      extract(epoch from app_now())::float8 * 1000 as now_ms, w.sealed`.execute(db);
  return rows;
}

export interface Recorded {
  state: DeliveryState;
  status: number | null;
  error: string | null;
  answer: string | null;
  /** Epoch ms; null: it has ended. */
  nextAtMs: number | null;
}

/** Records an attempt; false when another process has taken the delivery over, or it is gone. */
export async function recordAttempt(
  tx: Tx<DB>,
  of: { id: string; owner: string; attempts: number },
  end: Recorded,
): Promise<boolean> {
  const done = await sql`
    update webhook_deliveries set state = ${end.state}, last_status = ${end.status}, error = ${end.error},
      answer = ${end.answer}, lease_owner = null, lease_until = null,
      next_attempt_at = coalesce(to_timestamp(${end.nextAtMs}::float8 / 1000), next_attempt_at),
      ended_at = case when ${end.state} = 'pending' then null else app_now() end
    where id = ${of.id} and lease_owner = ${of.owner} and attempts = ${of.attempts} and state = 'pending'`.execute(
    tx,
  );
  return done.numAffectedRows === 1n;
}

/** Gives a lease back without an attempt: the process stops, or could not begin. */
export async function returnDelivery(
  db: Reader,
  of: { id: string; owner: string; attempts: number },
  pauseMs: number,
): Promise<void> {
  await sql`update webhook_deliveries set attempts = attempts - 1, lease_owner = null, lease_until = null,
      next_attempt_at = app_now() + ${pauseMs}::float8 * interval '1 millisecond'
    where id = ${of.id} and lease_owner = ${of.owner} and attempts = ${of.attempts} and state = 'pending'`.execute(
    db,
  );
}

/** A new start for the waiting deliveries of a webhook that is enabled again. */
export async function restartWaiting(tx: Tx<DB>, webhook: string, giveUpMs: number): Promise<void> {
  await sql`update webhook_deliveries set attempts = 0, next_attempt_at = app_now(),
      give_up_at = app_now() + ${giveUpMs}::float8 * interval '1 millisecond'
    where webhook = ${webhook} and state = 'pending' and lease_owner is null`.execute(tx);
}

/** Makes an ended delivery pending again; false when it has not ended. */
export async function restartDelivery(tx: Tx<DB>, id: string, giveUpMs: number): Promise<boolean> {
  const done =
    await sql`update webhook_deliveries set state = 'pending', attempts = 0, next_attempt_at = app_now(),
      give_up_at = app_now() + ${giveUpMs}::float8 * interval '1 millisecond', ended_at = null, error = null
    where id = ${id} and state <> 'pending'`.execute(tx);
  return done.numAffectedRows === 1n;
}

/** Counts a failure of a host; returns the failures in a row. */
export async function countHostFailure(tx: Tx<DB>, tenant: string, host: string): Promise<number> {
  const { rows } = await sql<{ failures: number }>`
    insert into webhook_hosts as h (tenant, host, failures) values (${tenant}, ${host}, 1)
    on conflict (tenant, host) do update set failures = h.failures + 1 returning failures`.execute(tx);
  return rows[0]!.failures;
}

export async function openBreaker(tx: Tx<DB>, tenant: string, host: string, breakMs: number): Promise<void> {
  await sql`update webhook_hosts set open_until = app_now() + ${breakMs}::float8 * interval '1 millisecond'
    where tenant = ${tenant} and host = ${host}`.execute(tx);
}

export async function closeBreaker(tx: Tx<DB>, tenant: string, host: string): Promise<void> {
  await sql`delete from webhook_hosts where tenant = ${tenant} and host = ${host}`.execute(tx);
}

/** Deletes at most `limit` ended deliveries that are older than `keepMs`, or beyond the latest `keepCount` of their webhook. */
export async function pruneDeliveries(
  db: Reader,
  o: { keepMs: number; keepCount: number; limit: number },
): Promise<number> {
  const done = await sql`
    delete from webhook_deliveries where id = any(array(
      (select id from webhook_deliveries where state <> 'pending'
        and ended_at < app_now() - ${o.keepMs}::float8 * interval '1 millisecond' limit ${o.limit})
      union all
      (select old.id from webhooks w cross join lateral (select d.id from webhook_deliveries d
        where d.webhook = w.uid and d.state <> 'pending' order by d.created_at desc offset ${o.keepCount} limit ${o.limit}) old
        limit ${o.limit})))`.execute(db);
  return Number(done.numAffectedRows ?? 0n);
}

/** Deletes breakers of hosts that no webhook of the tenant names any more. */
export async function pruneHosts(db: Reader): Promise<void> {
  await sql`delete from webhook_hosts h where not exists
    (select from webhooks w where w.tenant = h.tenant and w.host = h.host)`.execute(db);
}
