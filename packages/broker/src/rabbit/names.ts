/**
 * Names of queues and exchanges. Each has a service in it, so that permissions, which are patterns over names, keep services
 * apart (permissions.ts). A queue that changes its arguments or its bindings needs another name (`VERSION`).
 */
import { serviceOfQueue } from '../topology';

const VERSION = 'q2';

export interface RabbitNames {
  /** Work that this service sends; what a message may come from is said by the bindings. */
  work(publisher: string): string;
  /** All subscribers of one type. */
  fanout(type: string): string;
  queue(type: string, queue: string): string;
  /** Leads to the queues of this service by their names: after a delay, from the parked ones, to the parked ones. */
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
