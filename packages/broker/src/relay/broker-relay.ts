/**
 * Messages for a process that has no connection of its own: the one that started it takes them from its broker and passes
 * them on over their channel. So a worker of the standalone knows no address and no password of the database.
 */
import type { Envelope, MessageType } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import type { Broker, Subscription } from '../port';
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
  let isGone = false;
  const send = (message: ToChild): void => channel.send(message);
  const { deliver, settle, settleAll } = createDeliveries(send);
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
    if (message.broker === 'handled') return settle(message.id, message.failure);
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
    settleAll(goneError());
    for (const subscription of subscriptions.values()) void subscription.close().catch(() => undefined);
    subscriptions.clear();
  });
}

/** Messages that the child is handling. */
function createDeliveries(send: (message: ToChild) => void) {
  const handling = new Map<number, (failure: Failure | null) => void>();
  let deliveries = 0;
  let gone: Error | null = null;
  return {
    deliver: (subscription: number, envelope: Envelope, signal: AbortSignal): Promise<void> =>
      new Promise((resolve, reject) => {
        if (gone) return reject(gone);
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
      }),
    settle: (id: number, failure: Failure | null): void => handling.get(id)?.(failure),
    settleAll: (error: Error): void => {
      gone = error;
      for (const settle of [...handling.values()]) settle(failureOf(error));
    },
  };
}

function allowed(messages: readonly MessageType<unknown>[], type: string): MessageType<unknown> {
  const found = messages.find((message) => message.type === type);
  if (found) return found;
  throw new AppError('forbidden_error', `this process may not have messages of type ${type}`);
}
