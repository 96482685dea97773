/** The broker of a process that was started by one which has it; see parent.ts. */
import type { Envelope, MessageType } from '@baton/contracts';
import { AppError, type Log } from '@baton/kernel';
import { readEnvelope } from '../catalogue';
import { createInFlight, type InFlight } from '../in-flight';
import type { Broker, Subscription } from '../port';
import { assertNotInTransaction } from '../transaction-guard';
import { unavailable } from '../unavailable';
import {
  type BrokerChannel,
  errorOf,
  type FromChild,
  type FromParent,
  failureOf,
  isBrokerMessage,
} from './wire';

const DRAIN_MS = 10_000;

type Receive = (envelope: Envelope, delivery: number | null) => void;

/** Works as long as the channel is open: the process ends with its parent. */
export function createRelayedBroker(channel: BrokerChannel, log: Log): Broker {
  const calls = new Map<number, (failure?: { message: string }) => void>();
  const receivers = new Map<number, Receive>();
  const running = new Map<number, InFlight>();
  const subscriptions = new Set<Subscription>();
  let last = 0;

  // biome-ignore lint/suspicious/noExplicitAny: the union without the number, which is given here.
  const ask = (asked: any, call = ++last): Promise<void> =>
    new Promise((resolve, reject) => {
      if (!channel.isOpen()) return reject(unavailable('the process that has the broker is gone'));
      calls.set(call, (failure) => {
        calls.delete(call);
        if (failure) reject(errorOf(failure));
        else resolve();
      });
      channel.send({ ...asked, call } satisfies FromChild);
    });
  channel.onMessage((message) => {
    if (!isBrokerMessage(message)) return;
    const told = message as FromParent;
    if (told.broker === 'done') calls.get(told.of)?.(told.failure);
    if (told.broker === 'delivered') receivers.get(told.to)?.(told.envelope, told.delivery);
    if (told.broker === 'told') receivers.get(told.to)?.(told.envelope, null);
    if (told.broker === 'given-up') running.get(told.delivery)?.abortAll('the delivery was given up');
  });
  channel.onClose(() => {
    for (const settle of [...calls.values()]) settle({ message: 'the process that has the broker is gone' });
    for (const one of running.values()) one.abortAll('the process that has the broker is gone');
  });

  const handle = async <T>(
    message: MessageType<T>,
    handler: (envelope: Envelope<T>, signal: AbortSignal) => Promise<void>,
    envelope: Envelope,
    delivery: number,
  ): Promise<void> => {
    const inFlight = createInFlight();
    running.set(delivery, inFlight);
    const settled = await inFlight
      .run(async (signal) => handler(readEnvelope(message, envelope), signal))
      .then(
        () => ({}),
        (error: unknown) => ({ failure: failureOf(error) }),
      );
    running.delete(delivery);
    if (channel.isOpen()) channel.send({ broker: 'settled', delivery, ...settled } satisfies FromChild);
  };
  const kept = async (asked: object, receive: Receive, drain: () => Promise<void>): Promise<Subscription> => {
    const call = ++last;
    receivers.set(call, receive);
    await ask(asked, call);
    const subscription = {
      close: async () => {
        if (!subscriptions.delete(subscription)) return;
        // The parent waits for what is under way, and takes it back when that takes too long.
        if (channel.isOpen()) await ask({ broker: 'close', of: call });
        await drain();
        receivers.delete(call);
      },
    };
    subscriptions.add(subscription);
    return subscription;
  };

  const publish: Broker['publish'] = async (envelopes) => {
    assertNotInTransaction('publish');
    if (envelopes.length > 0) await ask({ broker: 'publish', envelopes });
  };
  return {
    publish,
    handOver: publish,
    consume: (message, { queue, prefetch, handler }) => {
      const works = new Set<Promise<void>>();
      const receive: Receive = (envelope, delivery) => {
        if (delivery === null) return;
        const work = handle(message, handler, envelope, delivery).finally(() => works.delete(work));
        works.add(work);
      };
      const drain = async (): Promise<void> => void (await within(DRAIN_MS, Promise.all(works)));
      return kept({ broker: 'consume', type: message.type, queue, prefetch }, receive, drain);
    },
    subscribe: (message, handler) => {
      const receive: Receive = (envelope) =>
        void (async () => handler(readEnvelope(message, envelope)))().catch((error: unknown) =>
          log.error({ messageType: message.type, error }, 'subscriber failed'),
        );
      return kept({ broker: 'subscribe', type: message.type }, receive, async () => undefined);
    },
    ping: async () => {
      if (!channel.isOpen()) throw unavailable('the process that has the broker is gone');
    },
    close: async () => {
      await Promise.all([...subscriptions].map((subscription) => subscription.close()));
      channel.close();
    },
    listParked: async () => notHere(),
    replayParked: async () => notHere(),
  };
}

const notHere = (): never => {
  throw new AppError('forbidden_error', 'parked messages are asked for where the broker is');
};

async function within(limitMs: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
