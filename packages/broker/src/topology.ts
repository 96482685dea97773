import {
  agentRevoked,
  agentTaskReady,
  blueprintDeleted,
  blueprintRegistered,
  catalogResourcesChanged,
  changeMade,
  configChanged,
  credentialsChanged,
  deploymentCreated,
  deploymentDeleted,
  deploymentDriftChanged,
  deploymentResourcesChanged,
  deploymentUpdated,
  eventsAppended,
  executionAccepted,
  executionFinished,
  executionRequested,
  executionResourcesChanged,
  executionStatusChanged,
  firstTaskReady,
  groupDeploymentsCreated,
  type MessageType,
  maintenanceChanged,
  managerServices,
  quotaChanged,
  taskReady,
  tasksCancelled,
  uploadEnded,
  webhookInterestChanged,
} from '@baton/contracts';

/** One message type: its publishers, and the consumers whose queues exist before any of them has started. */
export interface TopologyEntry {
  // biome-ignore lint/suspicious/noExplicitAny: one table for messages of all payloads.
  message: MessageType<any>;
  /**
   * Queue names of `consume`; empty for fanout. A consumer that is missing here loses the messages published before its first
   * start; a name without a consumer makes its queue grow for ever. A name begins with its service: see `serviceOfQueue`.
   */
  queues: readonly string[];
  /** Services that send it; absent: only its owner, the first part of the type. */
  publishers?: readonly string[];
  /** Services that `subscribe` to the message; only for fanout. */
  subscribers?: readonly string[];
  /**
   * Consumers act on the content of the message, so it is accepted only with the seal of one of its publishers. Absent: no content
   * of it is trusted.
   */
  seal?: boolean;
  /** The content that consumers trust, or the service that they query instead. */
  why?: string;
}

export type Topology = readonly TopologyEntry[];

/** Services with an outbox: each reports the changes that were made through it. */
const changers = ['identity', 'catalog', 'deployments', 'executions', 'secrets', 'cluster-status'];

/** The queue whose facts become events of webhooks. */
const WEBHOOKS = 'cluster-status-webhooks';

/** All messages. A new message or consumer begins here. */
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
  {
    message: deploymentCreated,
    queues: ['executions', WEBHOOKS],
    seal: true,
    why: 'executions records what it says',
  },
  {
    message: groupDeploymentsCreated,
    queues: ['executions', WEBHOOKS],
    seal: true,
    why: 'executions records what it says',
  },
  { message: deploymentUpdated, queues: [WEBHOOKS], seal: true, why: 'webhooks tell it to other systems' },
  {
    message: deploymentDriftChanged,
    queues: [WEBHOOKS],
    seal: true,
    why: 'webhooks tell it to other systems',
  },
  {
    message: executionStatusChanged,
    queues: [WEBHOOKS],
    seal: true,
    why: 'webhooks tell it to other systems',
  },
  {
    message: webhookInterestChanged,
    queues: ['executions-webhooks'],
    seal: true,
    why: 'executions reports, or not, what moves in the tenant',
  },
  {
    message: deploymentDeleted,
    queues: ['executions', 'catalog', WEBHOOKS],
    seal: true,
    why: 'logs, schedules and files of the deployment are deleted',
  },
  {
    message: eventsAppended,
    queues: [],
    subscribers: ['executions'],
    why: 'event streams and streams of changes read what has moved from the table',
  },
  ...[executionResourcesChanged, deploymentResourcesChanged, catalogResourcesChanged].map((message) => ({
    message,
    queues: [],
    subscribers: ['executions'],
    seal: true,
    why: 'streams of changes show it to those whom it says may see it',
  })),
  {
    message: tasksCancelled,
    queues: [],
    subscribers: ['worker', 'gateway'],
    why: 'a worker that holds one of them asks executions by a heartbeat, whose answer decides',
  },
  {
    message: agentTaskReady,
    queues: [],
    subscribers: ['gateway'],
    why: 'an agent claims the operation by a call, whose answer decides',
  },
  {
    message: agentRevoked,
    queues: ['executions'],
    seal: true,
    why: 'executions takes the operations of the agent back',
  },
  { message: blueprintRegistered, queues: [], why: 'nobody listens' },
  {
    message: uploadEnded,
    queues: ['executions', WEBHOOKS],
    seal: true,
    why: 'executions records what it says',
  },
  {
    message: blueprintDeleted,
    queues: ['executions', WEBHOOKS],
    seal: true,
    why: 'an execution is deleted',
  },
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
  {
    message: maintenanceChanged,
    queues: [],
    subscribers: ['gateway'],
    why: 'every gateway asks cluster-status for the state, not only the one that forwarded the change',
  },
];

/** The services that may send a message. */
export function publishersOf(entry: TopologyEntry): readonly string[] {
  return entry.publishers ?? [entry.message.type.slice(0, entry.message.type.indexOf('.'))];
}

const services: readonly string[] = [...managerServices, 'worker'];

/**
 * Returns the service that consumes a queue: the service with whose name the queue's name begins. Another name counts as a service
 * itself.
 */
export function serviceOfQueue(queue: string): string {
  return services.find((service) => queue === service || queue.startsWith(`${service}-`)) ?? queue;
}

/** Delays before the next delivery after the first, second, ... failure; the last one repeats. */
export const retryStepsMs: readonly number[] = [1_000, 5_000, 30_000];
/** Deliveries that may fail before a message is parked. */
export const MAX_DELIVERIES = 10;
/** Deliveries that may end with the consumer's connection (a crash of the process) before a message is parked. */
export const MAX_CRASHES = 20;
