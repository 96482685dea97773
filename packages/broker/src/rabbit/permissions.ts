/**
 * The permissions of each service's user on the server, from the topology; deploy/rabbitmq/permissions.json is generated from them.
 */
import { publishersOf, serviceOfQueue, type Topology } from '../topology';
import { rabbitNames } from './names';

/** Patterns over names, as RabbitMQ stores them; empty: no rights. */
export interface RabbitPermissions {
  configure: string;
  write: string;
  read: string;
}

/**
 * Returns the least permissions that `service` needs where an administrator has declared the topology. It sends to its own
 * exchanges, reads its own queues, puts failed messages into its own retry queues, and creates only the queues of its replicas.
 */
export function rabbitPermissions(namespace: string, topology: Topology, service: string): RabbitPermissions {
  const names = rabbitNames(namespace);
  const publishes = topology.filter((entry) => publishersOf(entry).includes(service));
  const subscribes = topology.filter((entry) => entry.subscribers?.includes(service));
  const isConsumer = topology.some(({ queues }) => queues.some((queue) => serviceOfQueue(queue) === service));
  const ofDelivery = (delivery: string) => publishes.filter(({ message }) => message.delivery === delivery);
  const fanout = (entries: Topology) => entries.map(({ message }) => exactly(names.fanout(message.type)));
  const replicas = subscribes.length > 0 ? [`${exactly(names.replica(service, ''))}[^.]+`] : [];
  return {
    configure: anyOf(replicas),
    write: anyOf([
      ...(ofDelivery('work').length > 0 ? [exactly(names.work(service))] : []),
      ...fanout(ofDelivery('fanout')),
      ...(isConsumer
        ? [exactly(names.back(service)), `${exactly(names.retry(service, 0)).slice(0, -1)}\\d+`]
        : []),
      ...replicas,
    ]),
    read: anyOf([
      ...(isConsumer ? [exactly(names.parked(service)), `${queuesOf(namespace, service)}.+`] : []),
      ...fanout(subscribes),
      ...replicas,
    ]),
  };
}

const exactly = (name: string): string => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Returns `<base>.queue.<service>.`, the prefix that names.queue puts before the type. */
function queuesOf(namespace: string, service: string): string {
  const [type, queue] = ['', service];
  const whole = rabbitNames(namespace).queue(type, queue);
  return exactly(whole.slice(0, whole.length - `.${queue}`.length));
}

const anyOf = (patterns: readonly string[]): string =>
  patterns.length === 0 ? '' : `^(${patterns.join('|')})$`;
