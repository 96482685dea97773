import { rabbitNames, serviceOfQueue, topology } from '@baton/broker';
import type { Channel } from 'amqplib';

/** Returns the name of the RabbitMQ queue of `<message type>.<consumer>`. */
export function queueAt(namespace: string, name: string): string {
  const dot = name.lastIndexOf('.');
  return rabbitNames(namespace).queue(name.slice(0, dot), name.slice(dot + 1));
}

/** Returns the exchange of messages that `executions` sends. */
export const workOfExecutions = (namespace: string): string => rabbitNames(namespace).work('executions');

const consuming = new Set(topology.flatMap(({ queues }) => queues.map(serviceOfQueue)));

/** Returns the number of messages that services have given up. */
export async function parkedCount(channel: Channel, namespace: string): Promise<number> {
  let count = 0;
  for (const service of consuming)
    count += (await channel.checkQueue(rabbitNames(namespace).parked(service))).messageCount;
  return count;
}
