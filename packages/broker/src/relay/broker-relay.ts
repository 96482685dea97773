/**
 * Messages for a process that has no connection of its own: the one that started it takes them from its broker and passes
 * them on over their channel. So a worker of the standalone knows no address and no password of the database.
 */
import type { Envelope, MessageType } from '@baton/contracts';
import { AppError, type ErrorCode } from '@baton/kernel';
import type { Broker, ConsumeOptions, Subscription } from '../port';

/** One side of the channel; messages are JSON and arrive in order. */
export interface BrokerChannel {
  isOpen(): boolean;
  send(message: object): void;
  onMessage(receive: (message: unknown) => void): void;
  onClose(closed: () => void): void;
  close(): void;
}

interface Failure {
  message: string;
  code: string | null;
}

/** What the child asks. `id` names the answer, or the subscription that it opened. */
type Asked =
  | { ask: 'publish' | 'handOver'; envelopes: readonly Envelope[] }
  | { ask: 'consume'; type: string; queue: string; prefetch: number }
  | { ask: 'subscribe'; type: string }
  | { ask: 'end'; subscription: number }
  | { ask: 'ping' };
type ToParent =
  | { broker: 'ask'; id: number; asked: Asked }
  | { broker: 'handled'; id: number; failure: Failure | null };
type ToChild =
  | { broker: 'answer'; id: number; failure: Failure | null }
  | { broker: 'deliver'; id: number | null; subscription: number; envelope: Envelope }
  | { broker: 'give-up'; id: number };

const isOurs = <M extends { broker: string }>(message: unknown): message is M =>
  typeof (message as { broker?: unknown } | null)?.broker === 'string';

function failureOf(error: unknown): Failure {
  return { message: (error as Error).message, code: error instanceof AppError ? error.code : null };
}

function errorOf({ message, code }: Failure): Error {
  return code === null ? new Error(message) : new AppError(code as ErrorCode, message);
}

const goneError = (): AppError =>
  new AppError('service_unavailable_error', 'the process that carries the messages is gone');

/** What the other end may do; anything else is refused. */
export interface RelayRules {
  consume: readonly MessageType<unknown>[];
  subscribe: readonly MessageType<unknown>[];
  publish: readonly MessageType<unknown>[];
}

/** The parent's end: serves one child after the other's coming; what a child left unfinished goes to another consumer. */
export function createBrokerRelay(
  broker: Broker,
  rules: RelayRules,
): { attach(channel: BrokerChannel): void } {
  return { attach: (channel) => serveChild(broker, rules, channel) };
}

function serveChild(broker: Broker, rules: RelayRules, channel: BrokerChannel): void {
  const subscriptions = new Map<number, Subscription>();
  const handling = new Map<number, (failure: Failure | null) => void>();
  let deliveries = 0;
  let isGone = false;
  const send = (message: ToChild): void => channel.send(message);
  const deliver = (subscription: number, envelope: Envelope, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      if (isGone) return reject(goneError());
      const id = ++deliveries;
      const onAbort = (): void => send({ broker: 'give-up', id });
      signal.addEventListener('abort', onAbort, { once: true });
      handling.set(id, (failure) => {
        handling.delete(id);
        signal.removeEventListener('abort', onAbort);
        if (failure) reject(errorOf(failure));
        else resolve();
      });
      send({ broker: 'deliver', id, subscription, envelope });
    });
  const open = async (id: number, opening: Promise<Subscription>): Promise<void> => {
    const subscription = await opening;
    if (isGone) await subscription.close();
    else subscriptions.set(id, subscription);
  };
  const carryOut = async (id: number, asked: Asked): Promise<void> => {
    switch (asked.ask) {
      case 'publish':
      case 'handOver':
        for (const { type } of asked.envelopes) allowed(rules.publish, type);
        return broker[asked.ask](asked.envelopes);
      case 'consume': {
        const { queue, prefetch } = asked;
        const handler = (envelope: Envelope, signal: AbortSignal) => deliver(id, envelope, signal);
        return open(id, broker.consume(allowed(rules.consume, asked.type), { queue, prefetch, handler }));
      }
      case 'subscribe': {
        const tell = (envelope: Envelope): void =>
          send({ broker: 'deliver', id: null, subscription: id, envelope });
        return open(id, broker.subscribe(allowed(rules.subscribe, asked.type), tell));
      }
      case 'end':
        await subscriptions.get(asked.subscription)?.close();
        return void subscriptions.delete(asked.subscription);
      case 'ping':
        return broker.ping();
    }
  };
  channel.onMessage((message) => {
    if (!isOurs<ToParent>(message)) return;
    if (message.broker === 'handled') return handling.get(message.id)?.(message.failure);
    if (message.broker !== 'ask') return;
    const { id } = message;
    carryOut(id, message.asked).then(
      () => send({ broker: 'answer', id, failure: null }),
      (error: unknown) => send({ broker: 'answer', id, failure: failureOf(error) }),
    );
  });
  channel.onClose(() => {
    isGone = true;
    // Failed deliveries go to another consumer; who died with a lease is the reaper's (services/executions).
    for (const settle of [...handling.values()]) settle(failureOf(goneError()));
    for (const subscription of subscriptions.values()) void subscription.close().catch(() => undefined);
    subscriptions.clear();
  });
}

function allowed(messages: readonly MessageType<unknown>[], type: string): MessageType<unknown> {
  const found = messages.find((message) => message.type === type);
  if (found) return found;
  throw new AppError('forbidden_error', `this process may not have messages of type ${type}`);
}

/** The child's end. Its parent's death is its own, so nothing here connects again. */
export function createRelayedBroker(channel: BrokerChannel): Broker {
  const asking = new Map<number, { resolve: () => void; reject: (error: Error) => void }>();
  type Handler = (envelope: Envelope, signal: AbortSignal) => void | Promise<void>;
  const subscriptions = new Map<number, { handler: Handler; running: Set<Promise<void>> }>();
  const givenUp = new Map<number, AbortController>();
  let asked = 0;
  const send = (message: ToParent): void => channel.send(message);
  const ask = (what: Asked, id = ++asked): Promise<void> =>
    new Promise((resolve, reject) => {
      if (!channel.isOpen()) return reject(goneError());
      asking.set(id, { resolve, reject });
      send({ broker: 'ask', id, asked: what });
    });
  const handle = async (message: Extract<ToChild, { broker: 'deliver' }>): Promise<void> => {
    const { id, subscription, envelope } = message;
    const control = new AbortController();
    if (id !== null) givenUp.set(id, control);
    let failure: Failure | null = null;
    try {
      const handler = subscriptions.get(subscription)?.handler;
      if (!handler) throw goneError();
      await handler(envelope, control.signal);
    } catch (error) {
      failure = failureOf(error);
    }
    if (id === null) return;
    givenUp.delete(id);
    send({ broker: 'handled', id, failure });
  };
  channel.onMessage((message) => {
    if (!isOurs<ToChild>(message)) return;
    if (message.broker === 'give-up') return givenUp.get(message.id)?.abort();
    if (message.broker === 'answer') {
      const waiting = asking.get(message.id);
      asking.delete(message.id);
      if (message.failure) waiting?.reject(errorOf(message.failure));
      else waiting?.resolve();
      return;
    }
    if (message.broker !== 'deliver') return;
    const run = handle(message);
    const running = subscriptions.get(message.subscription)?.running;
    running?.add(run);
    void run.finally(() => running?.delete(run));
  });
  channel.onClose(() => {
    for (const { reject } of asking.values()) reject(goneError());
    asking.clear();
    for (const control of givenUp.values()) control.abort();
  });
  const openSubscription = async (what: Asked, handler: Handler): Promise<Subscription> => {
    const id = ++asked;
    const running = new Set<Promise<void>>();
    subscriptions.set(id, { handler, running });
    await ask(what, id);
    return {
      close: async () => {
        // The other end waits for the handlers at work, and gives up what takes too long.
        if (channel.isOpen()) await ask({ ask: 'end', subscription: id });
        await Promise.all(running);
        subscriptions.delete(id);
      },
    };
  };
  const elsewhere = (): never => {
    throw new AppError('service_unavailable_error', 'parked messages are looked after by the manager');
  };
  return {
    publish: (envelopes) => ask({ ask: 'publish', envelopes }),
    handOver: (envelopes) => ask({ ask: 'handOver', envelopes }),
    consume: <T>({ type }: MessageType<T>, { queue, prefetch, handler }: ConsumeOptions<T>) =>
      openSubscription({ ask: 'consume', type, queue, prefetch }, handler as Handler),
    subscribe: <T>({ type }: MessageType<T>, handler: (envelope: Envelope<T>) => void | Promise<void>) =>
      openSubscription({ ask: 'subscribe', type }, handler as Handler),
    ping: () => ask({ ask: 'ping' }),
    close: async () => channel.close(),
    listParked: async () => elsewhere(),
    replayParked: async () => elsewhere(),
  };
}
