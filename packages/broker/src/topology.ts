import {
  blueprintDeleted,
  blueprintRegistered,
  changeMade,
  configChanged,
  credentialsChanged,
  deploymentCreated,
  deploymentDeleted,
  eventsAppended,
  executionAccepted,
  executionFinished,
  executionRequested,
  firstTaskReady,
  groupDeploymentsCreated,
  type MessageType,
  managerServices,
  quotaChanged,
  taskReady,
  tasksCancelled,
  uploadEnded,
} from '@baton/contracts';

/** One message type: who may send it, and the consumers whose queues exist before any of them has ever started. */
export interface TopologyEntry {
  // biome-ignore lint/suspicious/noExplicitAny: one table for messages of all payloads.
  message: MessageType<any>;
  /**
   * Queue names of `consume`; empty for fanout. A consumer that is missing here loses what was published before its
   * first start; one that does not exist makes its queue grow for ever. A name begins with its service: see `serviceOfQueue`.
   */
  queues: readonly string[];
  /** Services that send it; absent: its owner alone, the first part of the type. */
  publishers?: readonly string[];
  /** Services that `subscribe` to it; only for fanout. */
  subscribers?: readonly string[];
  /** Consumers act on what it says, so it counts only with the seal of one of its publishers. Absent: nothing in it is believed. */
  seal?: boolean;
  /** What is believed, or who is asked instead. */
  why?: string;
}

export type Topology = readonly TopologyEntry[];

/** Services that have an outbox: each tells of the changes that were made through it. */
const changers = ['identity', 'catalog', 'deployments', 'executions', 'secrets', 'cluster-status'];

/** Everything that travels. A new message or consumer begins here. */
export const topology: Topology = [
  {
    message: executionAccepted,
    queues: ['deployments-latest-execution'],
    seal: true,
    why: 'deployments shows it as the latest execution',
  },
  {
    message: executionRequested,
    queues: ['executions', 'deployments-latest-execution'],
    seal: true,
    why: 'deployments shows it as the latest execution',
  },
  {
    message: taskReady,
    queues: ['worker'],
    publishers: ['executions', 'worker'],
    why: 'the claim asks executions; the tenant only decides whose place is tried, and the lease names the true one',
  },
  {
    message: firstTaskReady,
    queues: ['worker'],
    publishers: ['executions', 'worker'],
    why: 'as task-ready',
  },
  {
    message: executionFinished,
    queues: ['executions'],
    seal: true,
    why: 'executions ends what waits for it, and deployments that are being deleted',
  },
  { message: deploymentCreated, queues: ['executions'], seal: true, why: 'executions records what it says' },
  {
    message: groupDeploymentsCreated,
    queues: ['executions'],
    seal: true,
    why: 'executions records what it says',
  },
  {
    message: deploymentDeleted,
    queues: ['executions', 'catalog'],
    seal: true,
    why: 'logs, schedules and files of the deployment are deleted',
  },
  {
    message: eventsAppended,
    queues: [],
    subscribers: ['executions'],
    why: 'event streams read their events from the table',
  },
  {
    message: tasksCancelled,
    queues: [],
    subscribers: ['worker'],
    why: 'a worker that holds one of them asks executions by a heartbeat, whose answer decides',
  },
  { message: blueprintRegistered, queues: [], why: 'nobody listens' },
  { message: uploadEnded, queues: ['executions'], seal: true, why: 'executions records what it says' },
  { message: blueprintDeleted, queues: ['executions'], seal: true, why: 'an execution is deleted' },
  {
    message: credentialsChanged,
    queues: [],
    subscribers: ['gateway'],
    seal: true,
    why: 'the gateway forgets who users are: a flood of these is a flood of logins for identity',
  },
  {
    message: quotaChanged,
    queues: [],
    subscribers: ['gateway', 'catalog', 'deployments', 'executions'],
    why: 'the limits of tenants are read again from identity',
  },
  {
    message: changeMade,
    queues: ['cluster-status'],
    publishers: changers,
    seal: true,
    why: 'becomes a row of the audit log',
  },
  {
    message: configChanged,
    queues: [],
    subscribers: ['identity', 'gateway', 'executions'],
    why: 'the scope is read again from cluster-status',
  },
];

/** The services that may send a message. */
export function publishersOf(entry: TopologyEntry): readonly string[] {
  return entry.publishers ?? [entry.message.type.slice(0, entry.message.type.indexOf('.'))];
}

const services: readonly string[] = [...managerServices, 'worker'];

/** The service that consumes a queue: the one that the name begins with; a name of none is a service of its own. */
export function serviceOfQueue(queue: string): string {
  return services.find((service) => queue === service || queue.startsWith(`${service}-`)) ?? queue;
}

/** Delays before the next delivery after the first, second, ... failure; the last one repeats. */
export const retryStepsMs: readonly number[] = [1_000, 5_000, 30_000];
/** Deliveries that may fail before a message is parked. */
export const MAX_DELIVERIES = 10;
/** Deliveries that may end with the consumer's connection (a crash of the process) before a message is parked. */
export const MAX_CRASHES = 20;
