import type { MessageType } from '@baton/contracts';
import { createFloodLog, type Log, newId, systemClock } from '@baton/kernel';
import type { Channel, ConsumeMessage } from 'amqplib';
import { readEnvelope } from '../catalogue';
import { createGaps } from '../gaps';
import type { Broker, Subscription } from '../port';
import type { LastingConnection } from './connection';
import type { TopologyMode } from './declare';
import type { RabbitNames } from './names';
import type { Sealing } from './sealing';

type Receive = (delivery: ConsumeMessage) => Promise<void>;

/** Most messages that wait for one replica; the oldest are dropped first. */
const MAX_WAITING = 10_000;

interface FanoutDeps {
  connection: LastingConnection;
  names: RabbitNames;
  mode: TopologyMode;
  sealing: Sealing;
  /** The service of this replica. */
  service: string;
  log: Log;
}

/** Fanout subscriptions of one process: a queue that is deleted with its connection, bound to the subscribed types. */
export function createFanout(deps: FanoutDeps): Pick<Broker, 'subscribe'> {
  const { connection, names } = deps;
  const receiver = createReceivers(deps.sealing, deps.log);
  /** Receivers by exchange: there is one exchange per type. */
  const receivers = new Map<string, Set<Receive>>();
  const queue = names.replica(deps.service, newId());
  const bind = async (on: Channel, exchange: string): Promise<void> => {
    if (deps.mode === 'declare') await on.assertExchange(exchange, 'fanout', { durable: true });
    await on.bindQueue(queue, exchange, '');
  };
  const gaps = createGaps();
  let channel: Channel | null = null;
  let kept: Promise<unknown> | null = null;

  const start = (): Promise<unknown> =>
    connection.keep(async (model, drop) => {
      const opened = await model.createChannel();
      opened.on('error', (error) => drop(`fanout channel: ${error.message}`));
      opened.on('close', () => {
        if (channel === opened) channel = null;
        drop('fanout channel closed');
      });
      await opened.assertQueue(queue, {
        exclusive: true,
        autoDelete: true,
        durable: false,
        maxLength: MAX_WAITING,
      });
      for (const exchange of receivers.keys()) await bind(opened, exchange);
      await opened.consume(
        queue,
        (delivery) => void (delivery && deliver(receivers.get(delivery.fields.exchange), delivery)),
        { noAck: true },
      );
      channel = opened;
      gaps.connected();
    });

  return {
    subscribe: async <T>(
      message: MessageType<T>,
      handler: (envelope: never) => void | Promise<void>,
      onGap?: () => void,
    ): Promise<Subscription> => {
      const exchange = names.fanout(message.type);
      const receive = receiver(message, handler);
      const known = receivers.get(exchange);
      receivers.set(exchange, (known ?? new Set()).add(receive));
      kept ??= start();
      await kept;
      // A reconnect may have bound it too; binding twice is the same as once.
      if (channel) await bind(channel, exchange);
      gaps.add(onGap);
      return {
        close: async () => {
          gaps.remove(onGap);
          receivers.get(exchange)?.delete(receive);
        },
      };
    },
  };
}

/** Passes messages with a valid seal to handlers. Others are dropped; a flood of them is logged once a minute. */
function createReceivers(sealing: Sealing, log: Log) {
  const refusals = createFloodLog(log, systemClock);
  return <T>(message: MessageType<T>, handler: (envelope: never) => void | Promise<void>): Receive =>
    async (delivery) => {
      try {
        sealing.check(message.type, delivery);
      } catch (error) {
        const reason = (error as Error).message;
        return refusals.warn(message.type, reason, { messageType: message.type, reason }, 'message dropped');
      }
      try {
        await handler(readEnvelope(message, JSON.parse(delivery.content.toString('utf8'))) as never);
      } catch (error) {
        log.error({ messageType: message.type, error }, 'subscriber failed');
      }
    };
}

async function deliver(receivers: Iterable<Receive> | undefined, delivery: ConsumeMessage): Promise<void> {
  for (const receive of [...(receivers ?? [])]) await receive(delivery);
}
