import type { Channel } from 'amqplib';
import type { TopologyEntry } from '../topology';
import { planTopology, type Shape } from './plan';

/**
 * How exchanges and queues are created. `declare`: every process creates them when it connects, with a user that has all rights.
 * `check`: an administrator has created them (definitions.ts), and the users of services cannot.
 */
export type TopologyMode = 'declare' | 'check';

/** Declares the exchanges, queues and bindings that the entries need (plan.ts); existing ones stay as they are. */
export async function declareTopology(
  channel: Channel,
  shape: Shape,
  entries: readonly TopologyEntry[],
): Promise<void> {
  const { exchanges, queues, bindings } = planTopology(shape, entries);
  await Promise.all(exchanges.map(({ name, type }) => channel.assertExchange(name, type, { durable: true })));
  await Promise.all(
    queues.map(({ name, arguments: args }) => channel.assertQueue(name, { durable: true, arguments: args })),
  );
  await Promise.all(
    bindings.map(({ source, destination, routingKey }) => channel.bindQueue(destination, source, routingKey)),
  );
}
