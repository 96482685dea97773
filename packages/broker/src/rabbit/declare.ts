import type { Channel } from 'amqplib';
import type { TopologyEntry } from '../topology';
import { MAX_CRASHES } from '../topology';
import type { RabbitNames } from './names';

/** Most messages of a queue; beyond it publishing is refused and they stay in the outboxes. */
const MAX_LENGTH = 5_000_000;

/** What the topology looks like on one server. */
export interface Shape {
  names: RabbitNames;
  /** Delays of the retry queues. */
  stepsMs: readonly number[];
  /** Further arguments of every durable queue. */
  expiry: { 'x-expires'?: number };
}

/**
 * Declares exchanges, the queue of every known consumer, the delay queues and the one for parked messages.
 * A delay queue gives its messages back to the queue that their routing key names, through the default exchange.
 */
export async function declareTopology(
  channel: Channel,
  shape: Shape,
  entries: readonly TopologyEntry[],
): Promise<void> {
  const { names, stepsMs, expiry } = shape;
  await channel.assertExchange(names.work, 'direct', { durable: true });
  await channel.assertExchange(names.fanout, 'direct', { durable: true });
  await channel.assertQueue(names.parked, {
    durable: true,
    arguments: { 'x-queue-type': 'quorum', ...expiry },
  });
  await Promise.all(stepsMs.map((delayMs) => declareRetry(channel, names.retry(delayMs), delayMs, expiry)));
  for (const { message, queues } of entries) {
    await Promise.all(queues.map((queue) => declareWorkQueue(channel, shape, message.type, queue)));
  }
}

async function declareRetry(
  channel: Channel,
  name: string,
  delayMs: number,
  expiry: Shape['expiry'],
): Promise<void> {
  await channel.assertExchange(name, 'fanout', { durable: true });
  await channel.assertQueue(name, {
    durable: true,
    arguments: {
      'x-queue-type': 'quorum',
      'x-message-ttl': delayMs,
      'x-dead-letter-exchange': '',
      // The move to the work queue is confirmed before the message leaves this one.
      'x-dead-letter-strategy': 'at-least-once',
      'x-overflow': 'reject-publish',
      'x-max-length': MAX_LENGTH,
      ...expiry,
    },
  });
  await channel.bindQueue(name, name, '');
}

export async function declareWorkQueue(
  channel: Channel,
  { names, expiry }: Shape,
  type: string,
  queue: string,
): Promise<string> {
  const name = names.queue(type, queue);
  await channel.assertQueue(name, {
    durable: true,
    arguments: {
      'x-queue-type': 'quorum',
      'x-overflow': 'reject-publish',
      'x-max-length': MAX_LENGTH,
      'x-delivery-limit': MAX_CRASHES,
      'x-dead-letter-exchange': '',
      'x-dead-letter-routing-key': names.parked,
      'x-dead-letter-strategy': 'at-least-once',
      ...expiry,
    },
  });
  await channel.bindQueue(name, names.work, type);
  return name;
}
