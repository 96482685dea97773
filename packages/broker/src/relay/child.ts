/** The broker of a child process, through the broker of its parent; see parent.ts. */
import type { Envelope, MessageType } from '@baton/contracts';
import { AppError, type Log } from '@baton/kernel';
import { readEnvelope } from '../catalogue';
import { createInFlight, type InFlight } from '../in-flight';
import type { Broker, ConsumeOptions, Subscription } from '../port';
import { assertNotInTransaction } from '../transaction-guard';
import { unavailable } from '../unavailable';
import {
  type BrokerChannel,
  errorOf,
  type Failure,
  type FromChild,
  type FromParent,
  failureOf,
  isBrokerMessage,
} from './wire';

const DRAIN_MS = 10_000;
const GONE = 'the process that has the broker is gone';

type Receive = (envelope: Envelope, delivery: number | null) => void;

/** Works as long as the channel is open: the process ends with its parent. */
export function createRelayedBroker(channel: BrokerChannel, log: Log): Broker {
  const link = openLink(channel);
  const subscriptions = new Set<Subscription>();
  const kept = async (asked: object, receive: Receive, drain: () => Promise<void>): Promise<Subscription> => {
    const call = link.nextCall();
    link.receivers.set(call, receive);
    await link.ask(asked, call);
    const subscription = {
      close: async () => {
        if (!subscriptions.delete(subscription)) return;
        // The parent waits for messages under way, and takes them back when they take too long.
        if (channel.isOpen()) await link.ask({ broker: 'close', of: call });
        await drain();
        link.receivers.delete(call);
      },
    };
    subscriptions.add(subscription);
    return subscription;
  };
  const publish: Broker['publish'] = async (envelopes) => {
    assertNotInTransaction('publish');
    if (envelopes.length > 0) await link.ask({ broker: 'publish', envelopes });
  };
  return {
    publish,
    handOver: publish,
    consume: (message, { queue, prefetch, handler }) => {
      const { receive, drain } = consumer(link, message, handler);
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
      if (!channel.isOpen()) throw unavailable(GONE);
    },
    close: async () => {
      await Promise.all([...subscriptions].map((subscription) => subscription.close()));
      channel.close();
    },
    listParked: async () => notHere(),
    replayParked: async () => notHere(),
  };
}

/** The channel to the parent, and the calls and deliveries under way. */
interface Link {
  channel: BrokerChannel;
  nextCall(): number;
  /** Resolves when the parent has carried out the request. @throws AppError as the parent's broker, or when the parent is gone. */
  ask(asked: object, call?: number): Promise<void>;
  /** Receivers, by the call that opened the subscription. */
  receivers: Map<number, Receive>;
  /** Running handlers, by the number of the delivery. */
  running: Map<number, InFlight>;
}

function openLink(channel: BrokerChannel): Link {
  const calls = new Map<number, (failure?: Failure) => void>();
  const receivers: Link['receivers'] = new Map();
  const running: Link['running'] = new Map();
  let last = 0;
  const nextCall = (): number => ++last;
  // biome-ignore lint/suspicious/noExplicitAny: the union without the number, which is given here.
  const ask = (asked: any, call = nextCall()): Promise<void> =>
    new Promise((resolve, reject) => {
      if (!channel.isOpen()) return reject(unavailable(GONE));
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
    for (const settle of [...calls.values()]) settle({ message: GONE });
    for (const one of running.values()) one.abortAll(GONE);
  });
  return { channel, nextCall, ask, receivers, running };
}

/** Passes deliveries to `handler`; `drain` waits a limited time for running ones. */
function consumer<T>(
  link: Link,
  message: MessageType<T>,
  handler: ConsumeOptions<T>['handler'],
): { receive: Receive; drain(): Promise<void> } {
  const works = new Set<Promise<void>>();
  return {
    receive: (envelope, delivery) => {
      if (delivery === null) return;
      const work = handle(link, delivery, async (signal) =>
        handler(readEnvelope(message, envelope), signal),
      ).finally(() => works.delete(work));
      works.add(work);
    },
    drain: async () => void (await within(DRAIN_MS, Promise.all(works))),
  };
}

/** Handles a delivery and reports to the parent how it ended. */
async function handle(
  { channel, running }: Link,
  delivery: number,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const inFlight = createInFlight();
  running.set(delivery, inFlight);
  const settled = await inFlight.run(work).then(
    () => ({}),
    (error: unknown) => ({ failure: failureOf(error) }),
  );
  running.delete(delivery);
  if (channel.isOpen()) channel.send({ broker: 'settled', delivery, ...settled } satisfies FromChild);
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
