import type { Envelope, MessageType } from '@baton/contracts';
import { type Log, newId } from '@baton/kernel';
import type pg from 'pg';
import { readEnvelope } from '../catalogue';
import { decideFailure } from '../delivery';
import { createInFlight } from '../in-flight';
import type { ConsumeOptions, Subscription } from '../port';
import { createAcknowledger } from './acknowledger';
import { createHandedMessages } from './handed';
import { createPump } from './pump';
import type { Session } from './session';
import type { Statements } from './statements';

const DRAIN_MS = 10_000;
const MAX_CLAIM = 100;
/** Extra delay of a wake-up: the clock of the server decides what is due, our clock only wakes. */
const DUE_MARGIN_MS = 5;

export interface ConsumerDeps {
  pool: pg.Pool;
  session: Session;
  sql: Statements;
  log: Log;
  stepsMs: readonly number[];
}

interface Delivery {
  id: string;
  envelope: unknown;
  attempts: number;
  owner: number;
}

export interface QueueConsumer extends Subscription {
  /**
   * Looks for messages: there may be some. Messages that the consumer itself has delayed need no kick; it looks for them when they
   * are due.
   */
  kick(): void;
  /**
   * Handles a message without storing it, if there is room and no stored message waits. Resolves to whether the handler succeeded;
   * false also when the message is given up. Null: not taken.
   */
  take(envelope: Envelope): Promise<boolean> | null;
}

/**
 * Claims messages of one queue for the session, up to `prefetch`, and passes them to the handler. A crash at any point ends the
 * session, and its messages are free again (reaper.ts).
 */
export function consumeQueue<T>(
  deps: ConsumerDeps,
  queue: string,
  message: MessageType<T>,
  options: ConsumeOptions<T>,
): QueueConsumer {
  const { pool, session, sql } = deps;
  const log = deps.log.child({ queue: options.queue, messageType: message.type });
  const inFlight = createInFlight();
  const acks = createAcknowledger(pool, sql, log);
  const working = new Map<string, number>();
  const handed = createHandedMessages({ inFlight, message, ...options, log, ended: () => pump.resume() });
  const room = (): number => options.prefetch - working.size - handed.size;

  const finish = async (delivery: Delivery, signal: AbortSignal): Promise<void> => {
    try {
      await options.handler(readEnvelope(message, delivery.envelope), signal);
      return acks.done(delivery.id, delivery.owner);
    } catch (error) {
      if (signal.aborted) return;
      const delayMs = await passOn(deps, log, delivery, error);
      if (delayMs !== null) setTimeout(pump.kick, delayMs + DUE_MARGIN_MS).unref();
    }
  };
  const start = (delivery: Delivery): void => {
    working.set(delivery.id, delivery.owner);
    void inFlight
      .run((signal) => finish(delivery, signal))
      .catch((error: Error) => log.warn({ error: error.message }, 'message could not be settled'))
      .finally(() => {
        working.delete(delivery.id);
        pump.resume();
      });
  };
  const claim = async (): Promise<{ isMore: boolean }> => {
    const owner = session.owner();
    if (owner === null) return { isMore: false };
    const most = Math.min(MAX_CLAIM, room());
    const { rows } = await pool.query({ ...sql.claim, values: [owner, queue, most] });
    for (const row of rows as Omit<Delivery, 'owner'>[]) start({ ...row, owner });
    return { isMore: rows.length === most };
  };
  const pump = createPump({
    fetch: claim,
    hasRoom: () => room() > 0,
    onError: (error) => log.warn({ error: error.message }, 'messages could not be claimed'),
  });
  const forget = session.onLoss(() => inFlight.abortAll('the connection to the broker is lost'));
  pump.kick();

  return {
    kick: pump.kick,
    take: (envelope) => (pump.isFree() && session.owner() !== null ? handed.take(envelope) : null),
    close: async () => {
      await pump.stop();
      await inFlight.drain(DRAIN_MS);
      forget();
      await acks.flush();
      // For handlers that did not end in time: their messages are free for other consumers at once.
      for (const [id, owner] of working) await pool.query(sql.giveBack, [[id], owner]).catch(() => undefined);
    },
  };
}

/**
 * Retries or parks a failed message; returns the delay in ms until the next delivery. Fails only when the database does; then the
 * message stays ours until this session ends.
 */
async function passOn(
  { pool, sql, stepsMs }: ConsumerDeps,
  log: Log,
  delivery: Delivery,
  error: unknown,
): Promise<number | null> {
  const attempts = delivery.attempts + 1;
  const decision = decideFailure(error, attempts, stepsMs);
  const messageId = (delivery.envelope as { id?: string } | null)?.id;
  if (decision.kind === 'retry') {
    log.warn(
      { messageId, attempts, delayMs: decision.delayMs, error },
      'message failed, will be delivered again',
    );
    await pool.query(sql.retry, [delivery.id, delivery.owner, attempts, decision.delayMs]);
    return decision.delayMs;
  }
  log.error({ messageId, attempts, reason: decision.reason, error }, 'message parked');
  await pool.query(sql.park, [delivery.id, delivery.owner, newId(), attempts, decision.reason]);
  return null;
}
