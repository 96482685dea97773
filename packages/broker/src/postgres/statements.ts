import { OWNER_LOCKS } from './session';

/**
 * Commits without waiting for the disk. A crash of the server ends every session, so claimed messages are free again in any case. A
 * finished message whose delete is lost comes once more, as after a crash of the consumer.
 */
const QUICK = `with quick as (select set_config('synchronous_commit', 'off', true))`;

/** The SQL statements of the adapter for one schema. All times are the server's. */
export function statements(schema: string, channels: { work: string; fanout: string }) {
  const messages = `"${schema}".messages`;
  const parked = `"${schema}".parked`;
  return {
    /** $1 queues, $2 envelopes, $3 queues to wake. */
    publish: {
      name: 'broker-publish',
      text: `with stored as (
          insert into ${messages} (queue, envelope) select * from unnest($1::text[], $2::json[]))
        select pg_notify('${channels.work}', queue) from unnest($3::text[]) queue`,
    },
    /** $1 parts of one fanout message; they arrive together and in order. */
    notify: {
      name: 'broker-notify',
      text: `select pg_notify('${channels.fanout}', part) from unnest($1::text[]) part`,
    },
    /** $1 owner, $2 queue, $3 most messages. */
    claim: {
      name: 'broker-claim',
      text: `${QUICK} update ${messages} set owner = $1 from quick where id in (
          select id from ${messages} where queue = $2 and owner is null and due_at <= clock_timestamp()
          order by due_at, id limit $3 for update skip locked)
        returning id::text, envelope, attempts`,
    },
    /** $1 queues; returns those with due messages that no consumer has claimed. */
    waiting: {
      name: 'broker-waiting',
      text: `select queue from unnest($1::text[]) queue where exists (
          select 1 from ${messages} m where m.queue = queue.queue and m.owner is null and m.due_at <= clock_timestamp())`,
    },
    /** $1 ids, $2 owner: a message that another session has taken over stays. */
    done: {
      name: 'broker-done',
      text: `${QUICK} delete from ${messages} using quick where id = any($1::bigint[]) and owner = $2`,
    },
    /** $1 ids, $2 owner. */
    giveBack: `update ${messages} set owner = null where id = any($1::bigint[]) and owner = $2`,
    /** $1 id, $2 owner, $3 attempts, $4 delay in ms. */
    retry: `update ${messages} set owner = null, attempts = $3, due_at = clock_timestamp() + $4::float8 * interval '1 millisecond'
      where id = $1 and owner = $2`,
    /** $1 id, $2 owner, $3 id of the parked message, $4 attempts, $5 reason. */
    park: `with gone as (delete from ${messages} where id = $1 and owner = $2 returning queue, envelope)
      insert into ${parked} (id, queue, envelope, attempts, reason) select $3::uuid, queue, envelope, $4::int, $5::text from gone`,
    /** Frees the messages of dead sessions. $1 number of crashes from which a message is to be parked. */
    reap: `with freed as (
        update ${messages} set owner = null, crashes = crashes + 1
        where owner is not null and owner not in (
          select objid::bigint from pg_locks
          where locktype = 'advisory' and classid = ${OWNER_LOCKS} and granted
            and database = (select oid from pg_database where datname = current_database()))
        returning id, queue, crashes)
      select id::text, queue, crashes >= $1 as is_hopeless from freed`,
    /** $1 id, $2 id of the parked message, $3 reason. */
    parkFree: `with gone as (delete from ${messages} where id = $1 and owner is null returning queue, envelope, attempts)
      insert into ${parked} (id, queue, envelope, attempts, reason) select $2::uuid, queue, envelope, attempts, $3::text from gone`,
    wake: `select pg_notify('${channels.work}', queue) from unnest($1::text[]) queue`,
    /** $1 consumer or null, $2 most messages. */
    listParked: `select id, queue, envelope, reason, attempts,
        to_char(parked_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as parked_at
      from ${parked} where $1::text is null or split_part(queue, '/', 2) = $1 order by parked_at limit $2`,
    /** $1 id. */
    replay: `with gone as (delete from ${parked} where id = $1 returning queue, envelope),
        stored as (insert into ${messages} (queue, envelope) select queue, envelope from gone returning queue)
      select pg_notify('${channels.work}', queue) from stored`,
  };
}

export type Statements = ReturnType<typeof statements>;
