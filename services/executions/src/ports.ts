import type { FindUser } from '@baton/contracts';
import type { Log } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { WorkflowConfig } from '@baton/task-graph';
import type { LeaseProofs } from '@baton/trust';
import type { CatalogPort } from './adapters/catalog.client';
import type { DeploymentsPort } from './adapters/deployments.client';
import type { AcceptedRows } from './executions/accepted-rows';
import type { Acceptor } from './executions/acceptor';
import type { ExecutionQuota } from './executions/domain/quota';
import type { RefusalTexts } from './executions/domain/refusal-texts';
import type { PassedOver } from './executions/passed-over';
import type { Turns } from './executions/turns';
import type { KilledRun } from './store/rows';
import type { DB } from './store/tables.gen';

/**
 * The ports of this service. Each file of commands, queries and loops declares the ports that it needs, and the needs of the
 * commands that it calls: `type Deps = Pick<Ports, 'db' | 'wake'> & RequestExecutionDeps`. `service.ts` passes all of them.
 */
export interface Ports {
  db: Db<DB>;
  turns: Turns;
  accepted: AcceptedRows;
  acceptor: Acceptor;
  deployments: DeploymentsPort;
  catalog: CatalogPort;
  findUser: FindUser;
  /** In-process wake-ups after a commit. For each of them, a loop does the same work after a crash. */
  wake: Wakes;
  /** Key from which execution tokens are derived. */
  tokenKey: string;
  /** Proofs of leases: a worker shows one to other services for each lease that it holds. */
  leases: LeaseProofs;
  workflowConfig: Omit<WorkflowConfig, 'tenant' | 'waitAfterFailMs'>;
  /** Limits that hold back the whole queue. */
  queue: QueueRules;
  agents: AgentLimits;
  passedOver: PassedOver;
  /** How long running operations may continue after a plain cancel, unless the execution sets its own time; ms. */
  cancelGraceMs: number;
  texts: RefusalTexts;
  log: Log;
}

/** Time limits of agents. */
export interface AgentLimits {
  /** How long an agent holds an operation without a word, ms (BATON_AGENT_GRACE). */
  leaseMs: number;
  /** How long a ready operation waits for its agent, ms (BATON_AGENT_WAIT). */
  waitMs: number;
}

export interface QueueRules {
  /** Whether maintenance mode is on: no new execution starts then. */
  isPaused(): boolean;
  /** The most executions that may run at once. */
  maxConcurrent(): number;
  /** Limits of a tenant's executions, as last received from identity. */
  quota(tenant: string): Readonly<ExecutionQuota>;
  /** Whether any tenant has a limit of running executions. */
  isRunningLimited(): boolean;
  /** Weights of tenants in the share of worker slots, where an administrator has set one. */
  weights(): Readonly<Record<string, number>>;
}

export interface Wakes {
  /** Drives the execution's phase; after a crash: engine/loops/engine.loops.ts. */
  drive(executionId: string): void;
  /**
   * Like `drive`, but does not wait behind a drive of this process that may hang on another service, so that a forced cancel ends
   * in time.
   */
  driveAtOnce(executionId: string): void;
  /** Waits for the drive of the execution that runs in this process. */
  driven(executionId: string): Promise<void>;
  /** Delivers the execution's node-instance states; after a crash: engine/loops/engine.loops.ts. */
  deliver(executionId: string): void;
  /** Deletes delivered states, when no step does so soon; after a crash: engine/loops/engine.loops.ts. */
  settle(executionId: string): void;
  /**
   * The execution has new events, or it moved otherwise: wakes event streams, which poll as well, and streams of changes
   * (changes/changes-hub.ts).
   */
  events(executionId: string): void;
  /** Deployments has applied states of the execution's node instances: wakes streams of changes. */
  statesApplied(executionId: string): void;
  /** A timer of the execution is due at the epoch ms `at`; after a crash: engine/loops/engine.loops.ts. */
  timer(executionId: string, at: number): void;
  /** Checks the queue; after a crash: engine/loops/engine.loops.ts. */
  dequeue(): void;
  /**
   * The execution ended: checks the queue and continues what waits for the execution; after a crash:
   * engine/loops/engine.loops.ts.
   */
  ended(executionId: string): void;
  /** Tells workers to stop operations; workers also learn it from their heartbeat. */
  kill(executionId: string, runs: readonly KilledRun[]): void;
}
