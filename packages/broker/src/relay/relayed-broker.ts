/** The broker of a process that has no connection of its own (broker-relay.ts). */
import type { Envelope, MessageType } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import type { Broker, ConsumeOptions, Subscription } from '../port';
import {
  type Asked,
  type BrokerChannel,
  errorOf,
  type Failure,
  failureOf,
  goneError,
  isOurs,
  type ToChild,
  type ToParent,
} from './relay-protocol';

type Handler = (envelope: Envelope, signal: AbortSignal) => void | Promise<void>;

/** Messages on their way in: each runs its handler and tells how that ended. */
function createIncoming(send: (message: ToParent) => void) {
  const subscriptions = new Map<number, { handler: Handler; running: Set<Promise<void>> }>();
  const givenUp = new Map<number, AbortController>();
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
  return {
    subscriptions,
    giveUp: (id: number): void => givenUp.get(id)?.abort(),
    giveUpAll: (): void => {
      for (const control of givenUp.values()) control.abort();
    },
    take: (message: Extract<ToChild, { broker: 'deliver' }>): void => {
      const run = handle(message);
      const running = subscriptions.get(message.subscription)?.running;
      running?.add(run);
      void run.finally(() => running?.delete(run));
    },
  };
}

/** Questions to the other end, and their answers. */
function createQuestions(channel: BrokerChannel) {
  const asking = new Map<number, { resolve: () => void; reject: (error: Error) => void }>();
  let asked = 0;
  return {
    nextId: (): number => ++asked,
    ask: (what: Asked, id = ++asked): Promise<void> =>
      new Promise((resolve, reject) => {
        if (!channel.isOpen()) return reject(goneError());
        asking.set(id, { resolve, reject });
        channel.send({ broker: 'ask', id, asked: what } satisfies ToParent);
      }),
    answered: (id: number, failure: Failure | null): void => {
      const waiting = asking.get(id);
      asking.delete(id);
      if (failure) waiting?.reject(errorOf(failure));
      else waiting?.resolve();
    },
    failAll: (): void => {
      for (const { reject } of asking.values()) reject(goneError());
      asking.clear();
    },
  };
}

const elsewhere = (): never => {
  throw new AppError('service_unavailable_error', 'parked messages are looked after by the manager');
};

/** The child's end. Its parent's death is its own, so nothing here connects again. */
export function createRelayedBroker(channel: BrokerChannel): Broker {
  const { nextId, ask, answered, failAll } = createQuestions(channel);
  const incoming = createIncoming((message) => channel.send(message));
  channel.onMessage((message) => {
    if (!isOurs<ToChild>(message)) return;
    if (message.broker === 'give-up') incoming.giveUp(message.id);
    if (message.broker === 'answer') answered(message.id, message.failure);
    if (message.broker === 'deliver') incoming.take(message);
  });
  channel.onClose(() => {
    failAll();
    incoming.giveUpAll();
  });
  const open = async (what: Asked, handler: Handler): Promise<Subscription> => {
    const id = nextId();
    const running = new Set<Promise<void>>();
    // Before the answer: the first message may come with it.
    incoming.subscriptions.set(id, { handler, running });
    await ask(what, id).catch((error: unknown) => {
      incoming.subscriptions.delete(id);
      throw error;
    });
    return {
      close: async () => {
        // The other end waits for the handlers at work, and gives up what takes too long.
        if (channel.isOpen()) await ask({ ask: 'end', subscription: id });
        await Promise.all(running);
        incoming.subscriptions.delete(id);
      },
    };
  };
  return {
    publish: (envelopes) => ask({ ask: 'publish', envelopes }),
    handOver: (envelopes) => ask({ ask: 'handOver', envelopes }),
    consume: <T>({ type }: MessageType<T>, { queue, prefetch, handler }: ConsumeOptions<T>) =>
      open({ ask: 'consume', type, queue, prefetch }, handler as Handler),
    subscribe: <T>({ type }: MessageType<T>, handler: (envelope: Envelope<T>) => void | Promise<void>) =>
      open({ ask: 'subscribe', type }, handler as Handler),
    ping: () => ask({ ask: 'ping' }),
    close: async () => channel.close(),
    listParked: async () => elsewhere(),
    replayParked: async () => elsewhere(),
  };
}
