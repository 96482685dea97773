/**
 * The exchanges, queues and bindings on the server. They are created by each service that starts (declare.ts), or by an
 * administrator where services have their own users (definitions.ts); both create the same.
 *
 * A service sends to its own exchange `work.<service>`, and bindings determine which messages may come from there: a message that
 * another service publishes finds no queue. A message that failed waits in `retry.<service>.<delay>` of its consumer and comes back
 * through `back.<service>`, which leads only to the queues of that service. The default exchange is not used for this: no
 * permissions restrict its dead letters, so a service could write into any queue.
 */
import { MAX_CRASHES, publishersOf, serviceOfQueue, type TopologyEntry } from '../topology';
import type { RabbitNames } from './names';

/** Most messages of a queue; beyond it the queue refuses messages and they stay in the outboxes. */
const MAX_LENGTH = 5_000_000;

/** Names and arguments of the topology on one server. */
export interface Shape {
  names: RabbitNames;
  /** Delays of the retry queues. */
  stepsMs: readonly number[];
  /** Further arguments of every durable queue. */
  expiry: { 'x-expires'?: number };
}

export interface RabbitPlan {
  exchanges: { name: string; type: 'direct' | 'fanout' }[];
  queues: { name: string; arguments: Record<string, string | number> }[];
  bindings: { source: string; destination: string; routingKey: string }[];
}

/** Returns everything that these entries need; every exchange, queue and binding once. */
export function planTopology(shape: Shape, entries: readonly TopologyEntry[]): RabbitPlan {
  const plan: RabbitPlan = { exchanges: [], queues: [], bindings: [] };
  const consuming = new Set(entries.flatMap(({ queues }) => queues.map(serviceOfQueue)));
  for (const service of consuming) planService(plan, shape, service);
  const publishing = new Set<string>();
  for (const entry of entries) {
    const { type, delivery } = entry.message;
    if (delivery === 'fanout') plan.exchanges.push({ name: shape.names.fanout(type), type: 'fanout' });
    else for (const publisher of publishersOf(entry)) publishing.add(publisher);
    for (const queue of entry.queues) planQueue(plan, shape, entry, queue);
  }
  for (const publisher of publishing)
    plan.exchanges.push({ name: shape.names.work(publisher), type: 'direct' });
  return plan;
}

/** Adds the exchanges and queues in which messages of a consuming service wait for a retry, are parked, and come back. */
function planService(plan: RabbitPlan, { names, stepsMs, expiry }: Shape, service: string): void {
  const [back, parked] = [names.back(service), names.parked(service)];
  plan.exchanges.push({ name: back, type: 'direct' });
  plan.queues.push({ name: parked, arguments: { 'x-queue-type': 'quorum', ...expiry } });
  plan.bindings.push({ source: back, destination: parked, routingKey: parked });
  for (const delayMs of stepsMs) {
    const name = names.retry(service, delayMs);
    plan.exchanges.push({ name, type: 'fanout' });
    plan.queues.push({
      name,
      arguments: { ...bounded, 'x-message-ttl': delayMs, ...deadTo(back), ...expiry },
    });
    plan.bindings.push({ source: name, destination: name, routingKey: '' });
  }
}

function planQueue(plan: RabbitPlan, { names, expiry }: Shape, entry: TopologyEntry, queue: string): void {
  const { type } = entry.message;
  const [name, service] = [names.queue(type, queue), serviceOfQueue(queue)];
  plan.queues.push({
    name,
    arguments: {
      ...bounded,
      'x-delivery-limit': MAX_CRASHES,
      ...deadTo(names.back(service)),
      'x-dead-letter-routing-key': names.parked(service),
      ...expiry,
    },
  });
  plan.bindings.push({ source: names.back(service), destination: name, routingKey: name });
  for (const publisher of publishersOf(entry))
    plan.bindings.push({ source: names.work(publisher), destination: name, routingKey: type });
}

const bounded = { 'x-queue-type': 'quorum', 'x-overflow': 'reject-publish', 'x-max-length': MAX_LENGTH };

/** Arguments of a dead-letter move: the next queue confirms it before the message leaves this one. */
const deadTo = (exchange: string) => ({
  'x-dead-letter-exchange': exchange,
  'x-dead-letter-strategy': 'at-least-once',
});
