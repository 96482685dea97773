/**
 * What lies on the server: exchanges, queues, bindings. By each service that starts (declare.ts), or by an administrator
 * where services have users of their own (definitions.ts); both make the same.
 *
 * A service sends to its own exchange `work.<service>`, and bindings say what may come from there: a fact of somebody else
 * finds no queue. A message that failed waits in `retry.<service>.<delay>` of its consumer and comes back through
 * `back.<service>`, which leads to the queues of that service alone: through the default exchange, whose dead letters
 * nobody's permissions hold, a service could write into any queue.
 */
import { MAX_CRASHES, publishersOf, serviceOfQueue, type TopologyEntry } from '../topology';
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

export interface RabbitPlan {
  exchanges: { name: string; type: 'direct' | 'fanout' }[];
  queues: { name: string; arguments: Record<string, string | number> }[];
  bindings: { source: string; destination: string; routingKey: string }[];
}

/** All that these entries need; every exchange, queue and binding once. */
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

/** Where messages of a consuming service wait, are parked, and how they come back. */
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

/** The move to the next queue is confirmed before the message leaves this one. */
const deadTo = (exchange: string) => ({
  'x-dead-letter-exchange': exchange,
  'x-dead-letter-strategy': 'at-least-once',
});
