import type { MessageType } from '@baton/contracts';
import { type Log, newId } from '@baton/kernel';
import type { Channel, ConsumeMessage } from 'amqplib';
import { readEnvelope } from '../catalogue';
import type { Broker, Subscription } from '../port';
import type { LastingConnection } from './connection';
import type { RabbitNames } from './names';

type Receive = (raw: unknown) => Promise<void>;

/** Most messages that wait for one replica; older ones go first. */
const MAX_WAITING = 10_000;

/** Subscriptions of one process: a queue that vanishes with its connection, bound to the types somebody listens to. */
export function createFanout(deps: {
  connection: LastingConnection;
  names: RabbitNames;
  log: Log;
}): Pick<Broker, 'subscribe'> {
  const { connection, names, log } = deps;
  const receivers = new Map<string, Set<Receive>>();
  const queue = names.replica(newId());
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
      await opened.assertExchange(names.fanout, 'direct', { durable: true });
      await opened.assertQueue(queue, {
        exclusive: true,
        autoDelete: true,
        durable: false,
        maxLength: MAX_WAITING,
      });
      for (const type of receivers.keys()) await opened.bindQueue(queue, names.fanout, type);
      await opened.consume(
        queue,
        (delivery) => void (delivery && deliver(receivers.get(delivery.fields.routingKey), delivery, log)),
        { noAck: true },
      );
      channel = opened;
    });

  return {
    subscribe: async <T>(
      message: MessageType<T>,
      handler: (envelope: never) => void | Promise<void>,
    ): Promise<Subscription> => {
      const receive: Receive = async (raw) => handler(readEnvelope(message, raw) as never);
      const known = receivers.get(message.type);
      receivers.set(message.type, (known ?? new Set()).add(receive));
      kept ??= start();
      await kept;
      // Bound by a reconnect as well; binding twice is the same as once.
      await channel?.bindQueue(queue, names.fanout, message.type);
      return {
        close: async () => {
          receivers.get(message.type)?.delete(receive);
        },
      };
    },
  };
}

async function deliver(
  receivers: Iterable<Receive> | undefined,
  delivery: ConsumeMessage,
  log: Log,
): Promise<void> {
  for (const receive of [...(receivers ?? [])]) {
    try {
      await receive(JSON.parse(delivery.content.toString('utf8')));
    } catch (error) {
      log.error({ messageType: delivery.fields.routingKey, error }, 'subscriber failed');
    }
  }
}
