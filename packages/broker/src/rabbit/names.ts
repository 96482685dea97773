/**
 * Names of queues and exchanges. Each contains a service, so that permissions, which are patterns over names, keep services apart
 * (permissions.ts). A queue with changed arguments or bindings needs another name (`VERSION`).
 */
import { serviceOfQueue } from '../topology';

const VERSION = 'q2';

export interface RabbitNames {
  /** Exchange of work messages that this service sends; bindings determine which messages may come from it. */
  work(publisher: string): string;
  /** Exchange of all subscribers of one type. */
  fanout(type: string): string;
  queue(type: string, queue: string): string;
  /** Exchange that leads to the queues of this service by their names: after a delay, and to and from the parked messages. */
  back(service: string): string;
  retry(service: string, delayMs: number): string;
  parked(service: string): string;
  replica(service: string, id: string): string;
}

export function rabbitNames(namespace: string): RabbitNames {
  const base = `${namespace}.${VERSION}`;
  return {
    work: (publisher) => `${base}.work.${publisher}`,
    fanout: (type) => `${base}.fanout.${type}`,
    queue: (type, queue) => `${base}.queue.${serviceOfQueue(queue)}.${type}.${queue}`,
    back: (service) => `${base}.back.${service}`,
    retry: (service, delayMs) => `${base}.retry.${service}.${delayMs}`,
    parked: (service) => `${base}.parked.${service}`,
    replica: (service, id) => `${base}.replica.${service}.${id}`,
  };
}
