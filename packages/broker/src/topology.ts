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
  quotaChanged,
  taskReady,
  tasksCancelled,
  uploadEnded,
} from '@baton/contracts';

/** One message type and the consumers whose queues exist before any of them has ever started. */
export interface TopologyEntry {
  // biome-ignore lint/suspicious/noExplicitAny: one table for messages of all payloads.
  message: MessageType<any>;
  /**
   * Queue names of `consume`; empty for fanout. A consumer that is missing here loses what was published before its
   * first start; one that does not exist makes its queue grow for ever.
   */
  queues: readonly string[];
}

export type Topology = readonly TopologyEntry[];

/** Everything that travels. A new message or consumer begins here. */
export const topology: Topology = [
  { message: executionAccepted, queues: ['deployments-latest-execution'] },
  { message: executionRequested, queues: ['executions', 'deployments-latest-execution'] },
  { message: taskReady, queues: ['worker'] },
  { message: firstTaskReady, queues: ['worker'] },
  { message: executionFinished, queues: ['executions'] },
  { message: deploymentCreated, queues: ['executions'] },
  { message: groupDeploymentsCreated, queues: ['executions'] },
  { message: deploymentDeleted, queues: ['executions', 'catalog'] },
  { message: eventsAppended, queues: [] },
  { message: tasksCancelled, queues: [] },
  { message: blueprintRegistered, queues: [] },
  { message: uploadEnded, queues: ['executions'] },
  { message: blueprintDeleted, queues: ['executions'] },
  { message: credentialsChanged, queues: [] },
  { message: quotaChanged, queues: [] },
  { message: changeMade, queues: ['cluster-status'] },
  { message: configChanged, queues: [] },
];

/** Delays before the next delivery after the first, second, ... failure; the last one repeats. */
export const retryStepsMs: readonly number[] = [1_000, 5_000, 30_000];
/** Deliveries that may fail before a message is parked. */
export const MAX_DELIVERIES = 10;
/** Deliveries that may end with the consumer's connection (a crash of the process) before a message is parked. */
export const MAX_CRASHES = 20;
