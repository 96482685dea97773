import type { Channel } from 'amqplib';
import type { TopologyEntry } from '../topology';
import { planTopology, type Shape } from './plan';

/**
 * Who makes exchanges and queues. `declare`: every process, when it connects; its user may do anything. `check`: an
 * administrator has made them (definitions.ts), and the users of services cannot.
 */
export type TopologyMode = 'declare' | 'check';

/** Declares what the entries need (plan.ts); what is there already stays as it is. */
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
