import type { Envelope } from '@baton/contracts';
import { isAppError, isOn, type Log } from '@baton/kernel';
import type pg from 'pg';
import type { Db } from './db';
import { createExpress } from './outbox-express';
import { translateError } from './sql-errors';

const BATCH = 200;
const POLL_MS = 5_000;
/** Pause before a message that the broker has refused for good is tried again. */
const POISON_PAUSE_MS = 60_000;
const MAX_POISONED = 1_000;

export interface OutboxRelay {
  /** Wakes the relay after a commit: for these messages, or, without an argument, for all messages in the outbox. */
  kick(appended?: readonly Envelope[]): void;
  /** Waits for the batch under way. */
  stop(): Promise<void>;
  /** Relays one batch; returns the number of sent messages. */
  tickOnce(): Promise<number>;
}

export interface OutboxRelayDeps {
  // biome-ignore lint/suspicious/noExplicitAny: works on the outbox of any service.
  db: Db<any>;
  /** Resolves when the broker has confirmed all of them. */
  publish: (envelopes: Envelope[]) => Promise<void>;
  /** Like `publish`, but the rows of the messages stay until it resolves: it may have handled them instead. Default `publish`. */
  handOver?: (envelopes: Envelope[]) => Promise<void>;
  log: Log;
  /** Fallback poll for messages whose process died before its kick, default 5 s. */
  pollMs?: number;
}

/** Finds messages that were left behind: younger ones are on their way from the memory of their process. */
const LOOK = {
  name: 'outbox-look',
  text: `select 1 from outbox where created_at < app_now() - interval '1 second' limit 1`,
};

// Rows are deleted before they are published, but the delete is committed after: a crash in between keeps them (sent twice, never
// lost).
const CLAIM = {
  name: 'outbox-claim',
  text: `with claimed as (
      select id from outbox where id <> all($1::uuid[]) order by id limit ${BATCH} for update skip locked)
    delete from outbox o using claimed c where o.id = c.id returning o.envelope, o.created_at`,
};
const GIVE_BACK = `insert into outbox (id, envelope, created_at)
  select (e->'envelope'->>'id')::uuid, e->'envelope', (e->>'created_at')::timestamptz from jsonb_array_elements($1::jsonb) e`;

interface Claimed {
  envelope: Envelope;
  created_at: string;
}

/**
 * Carries committed messages to the broker. Messages that this process has just committed go from memory; their rows are deleted
 * after the broker has confirmed, and a crash in between sends them twice. All other messages (of other processes, of a process
 * that died, refused before) are claimed in batches. Any number of relays may run on one outbox: each claims other rows. The row
 * locks of a claim are held while the broker confirms, on a separate connection outside of `db.tx`. A message that the broker
 * refuses for good stays in the outbox, is logged, and does not hold up the others.
 */
export function startOutboxRelay(deps: OutboxRelayDeps): OutboxRelay {
  const { db, log } = deps;
  const poisoned = new Map<string, NodeJS.Timeout>();
  let isStopped = false;
  let isKicked = false;
  let running: Promise<void> | null = null;

  const setAside = (id: string, error: unknown): void => {
    log.error({ messageId: id, error }, 'message cannot be published');
    if (poisoned.size >= MAX_POISONED) return;
    poisoned.set(id, setTimeout(() => poisoned.delete(id), POISON_PAUSE_MS).unref());
  };
  const express = createExpress({ handOver: deps.publish, ...deps }, () => kickAll());
  const tickOnce = (): Promise<number> => relayBatch(deps, [...poisoned.keys(), ...express.ids()], setAside);

  const drain = async (): Promise<void> => {
    try {
      do {
        isKicked = false;
        while ((await tickOnce()) === BATCH && !isStopped);
      } while (isKicked && !isStopped);
    } catch (error) {
      // All messages are still in the outbox; the next poll tries again.
      log.warn({ error: (error as Error).message }, 'outbox relay failed');
    }
  };
  const kick = (appended?: readonly Envelope[]): void => {
    if (!isStopped && !(appended && isOn('handed-over-messages') && express.take(appended))) kickAll();
  };
  const kickAll = (): void => {
    if (isStopped) return;
    isKicked = true;
    running ??= drain().finally(() => {
      running = null;
    });
  };

  const poll = async (): Promise<void> => {
    if (isStopped || running) return;
    const { rowCount } = await db.pool.query(LOOK);
    if (rowCount) kick();
  };
  const timer = setInterval(
    () => void poll().catch((error: Error) => log.warn({ error: error.message }, 'outbox relay failed')),
    deps.pollMs ?? POLL_MS,
  ).unref();
  const forget = db.onOutboxCommit(kick);
  kick();
  return {
    kick,
    tickOnce,
    stop: async () => {
      isStopped = true;
      clearInterval(timer);
      forget();
      for (const pause of poisoned.values()) clearTimeout(pause);
      await running;
      await express.settled();
    },
  };
}

async function relayBatch(
  deps: OutboxRelayDeps,
  skip: string[],
  setAside: (id: string, error: unknown) => void,
): Promise<number> {
  const client = await deps.db.pool.connect().catch((error) => {
    throw translateError(error);
  });
  let broken: Error | undefined;
  try {
    // The commit need not wait for the disk: a delete that is lost in a crash of the server only sends a message twice.
    await client.query('begin; set local synchronous_commit to off');
    const claimed = (await client.query({ ...CLAIM, values: [skip] })).rows as Claimed[];
    const refused = claimed.length === 0 ? [] : await publishAll(deps, claimed, setAside);
    if (refused.length > 0) await client.query(GIVE_BACK, [JSON.stringify(refused)]);
    await client.query('commit');
    return claimed.length - refused.length;
  } catch (error) {
    broken = await rollback(client);
    throw translateError(error);
  } finally {
    client.release(broken);
  }
}

async function rollback(client: pg.PoolClient): Promise<Error | undefined> {
  try {
    await client.query('rollback');
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

/** Publishes all messages; when the batch is refused for good, one by one. Returns the refused ones. */
async function publishAll(
  deps: OutboxRelayDeps,
  claimed: Claimed[],
  setAside: (id: string, error: unknown) => void,
): Promise<Claimed[]> {
  try {
    await deps.publish(claimed.map((row) => row.envelope));
    return [];
  } catch (error) {
    if (isTransientFailure(error)) throw error;
  }
  const refused: Claimed[] = [];
  for (const row of claimed) {
    try {
      await deps.publish([row.envelope]);
    } catch (error) {
      refused.push(row);
      if (!isTransientFailure(error)) setAside(row.envelope.id, error);
    }
  }
  return refused;
}

/** Whether the broker is away or busy, and nothing is wrong with the message. */
function isTransientFailure(error: unknown): boolean {
  return isAppError(error) && error.entry.retryable;
}
