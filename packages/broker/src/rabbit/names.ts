/** Names of queues and exchanges. A queue that changes its arguments needs another name (`VERSION`). */
const VERSION = 'q1';

export interface RabbitNames {
  work: string;
  fanout: string;
  parked: string;
  queue(type: string, queue: string): string;
  retry(delayMs: number): string;
  replica(id: string): string;
}

export function rabbitNames(namespace: string): RabbitNames {
  return {
    work: `${namespace}.work`,
    fanout: `${namespace}.fanout`,
    parked: `${namespace}.${VERSION}.parked`,
    queue: (type, queue) => `${namespace}.${VERSION}.${type}.${queue}`,
    retry: (delayMs) => `${namespace}.${VERSION}.retry.${delayMs}`,
    replica: (id) => `${namespace}.replica.${id}`,
  };
}
