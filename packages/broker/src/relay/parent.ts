/**
 * Messages for a child process of this one, over the channel between them. So the child needs no connection to the broker. It can
 * consume, subscribe to and publish only the messages that `access` lists.
 */
import type { Envelope, MessageType } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import type { Broker, Subscription } from '../port';
import {
  type BrokerChannel,
  errorOf,
  type Failure,
  type FromChild,
  type FromParent,
  failureOf,
  isBrokerMessage,
} from './wire';

// biome-ignore lint/suspicious/noExplicitAny: messages of all payloads.
type AnyMessage = MessageType<any>;

export interface RelayAccess {
  consumes: readonly { message: AnyMessage; queue: string }[];
  subscribes: readonly AnyMessage[];
  publishes: readonly AnyMessage[];
}

/**
 * Serves the process at the other end of `channel` until the channel closes; then its unfinished messages are delivered to others.
 */
export function relayBroker(broker: Broker, channel: BrokerChannel, access: RelayAccess): void {
  const open = new Map<number, Promise<Subscription>>();
  const send = (message: FromParent): void => {
    if (channel.isOpen()) channel.send(message);
  };
  const deliveries = createDeliveries(channel, send);
  const answer = (of: number, work: Promise<unknown>): void =>
    void work.then(
      () => send({ broker: 'done', of }),
      (error: unknown) => send({ broker: 'done', of, failure: failureOf(error) }),
    );
  const keep = (call: number, made: Promise<Subscription>): void => {
    open.set(call, made);
    answer(call, made);
  };

  const act = (asked: FromChild): unknown => {
    switch (asked.broker) {
      case 'settled':
        return deliveries.settle(asked.delivery, asked.failure);
      case 'consume': {
        const { call, type, queue, prefetch } = asked;
        const found = access.consumes.find((one) => one.message.type === type && one.queue === queue);
        if (!found) return answer(call, refused(`consume ${type} as ${queue}`));
        return keep(call, broker.consume(found.message, { queue, prefetch, handler: deliveries.to(call) }));
      }
      case 'subscribe': {
        const { call, type } = asked;
        const found = access.subscribes.find((message) => message.type === type);
        if (!found) return answer(call, refused(`subscribe to ${type}`));
        return keep(
          call,
          broker.subscribe(found, (envelope) => send({ broker: 'told', to: call, envelope })),
        );
      }
      case 'publish': {
        const { call, envelopes } = asked;
        const strange = envelopes.find(
          ({ type }) => !access.publishes.some((message) => message.type === type),
        );
        return answer(call, strange ? refused(`publish ${strange.type}`) : broker.publish(envelopes));
      }
      case 'close':
        return answer(asked.call, close(asked.of));
    }
  };
  const close = async (call: number): Promise<void> => {
    const made = open.get(call);
    open.delete(call);
    await (await made)?.close();
  };

  channel.onMessage((message) => void (isBrokerMessage(message) && act(message as FromChild)));
  channel.onClose(() => {
    // Its handlers are gone: the broker delivers the messages to another process, or to the next one that is started.
    deliveries.abandon();
    for (const call of [...open.keys()]) void close(call).catch(() => undefined);
  });
}

/** The deliveries that the child handles, until it reports how they ended. */
function createDeliveries(channel: BrokerChannel, send: (message: FromParent) => void) {
  const waiting = new Map<number, (failure?: Failure) => void>();
  let last = 0;
  return {
    /** Returns the handler of the consumer that the call `to` opened. */
    to: (to: number) => (envelope: Envelope, signal: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        if (!channel.isOpen()) return reject(gone());
        const delivery = ++last;
        const giveUp = (): void => send({ broker: 'given-up', delivery });
        signal.addEventListener('abort', giveUp, { once: true });
        waiting.set(delivery, (failure) => {
          waiting.delete(delivery);
          signal.removeEventListener('abort', giveUp);
          if (failure) reject(errorOf(failure));
          else resolve();
        });
        send({ broker: 'delivered', to, delivery, envelope });
      }),
    settle: (delivery: number, failure?: Failure): void => waiting.get(delivery)?.(failure),
    /** Fails all deliveries: no process is left to report how they end. */
    abandon: (): void => {
      for (const settle of [...waiting.values()]) settle(failureOf(gone()));
    },
  };
}

const gone = (): AppError => new AppError('service_unavailable_error', 'the process that handled it is gone');

const refused = (what: string): Promise<never> =>
  Promise.reject(new AppError('forbidden_error', `this process may not ${what}`));
