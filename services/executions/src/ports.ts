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
import type { PassedOver } from './executions/passed-over';
import type { Turns } from './executions/turns';
import type { KilledRun } from './store/rows';
import type { DB } from './store/tables.gen';

/**
 * What commands, queries and loops of this service may ask for. Each file declares the ports that it needs, and the needs of the
 * commands that it calls: `type Deps = Pick<Ports, 'db' | 'wake'> & RequestExecutionDeps`. `service.ts` hands all of them over.
 */
export interface Ports {
  db: Db<DB>;
  turns: Turns;
  accepted: AcceptedRows;
  acceptor: Acceptor;
  deployments: DeploymentsPort;
  catalog: CatalogPort;
  findUser: FindUser;
  /** In-process wake-ups after a commit; every one of them has a loop that does the same after a crash. */
  wake: Wakes;
  /** Key that execution tokens are derived from. */
  tokenKey: string;
  /** What workers show to other services of the leases that they hold. */
  leases: LeaseProofs;
  workflowConfig: Omit<WorkflowConfig, 'waitAfterFailMs'>;
  /** What holds back the whole queue. */
  queue: QueueRules;
  passedOver: PassedOver;
  /** How long what runs may go on after a plain cancel, unless the execution says otherwise; ms. */
  cancelGraceMs: number;
  log: Log;
}

export interface QueueRules {
  /** In maintenance nothing new starts. */
  isPaused(): boolean;
  /** Executions that may be at work at once. */
  maxConcurrent(): number;
  /** How many executions a tenant may have; as last heard of identity. */
  quota(tenant: string): Readonly<ExecutionQuota>;
  /** Whether any tenant has a limit of executions at work. */
  isRunningLimited(): boolean;
  /** Weights of tenants in the share of workers' places, where an administrator has set one. */
  weights(): Readonly<Record<string, number>>;
}

export interface Wakes {
  /** Drive the execution's phase; after a crash: engine/loops/engine.loops.ts. */
  drive(executionId: string): void;
  /** The same, and not behind a drive of this process that may hang on another service: a forced cancel ends in time. */
  driveAtOnce(executionId: string): void;
  /** Waits for a drive of the execution that this process has under way. */
  driven(executionId: string): Promise<void>;
  /** Deliver its node-instance states; after a crash: engine/loops/engine.loops.ts. */
  deliver(executionId: string): void;
  /** Forget states that were delivered, when no step does so soon; after a crash: engine/loops/engine.loops.ts. */
  settle(executionId: string): void;
  /** Tell event streams; they poll as well. */
  events(executionId: string): void;
  /** A timer of the execution is due at that epoch ms; after a crash: engine/loops/engine.loops.ts. */
  timer(executionId: string, at: number): void;
  /** Look at the queue; after a crash: engine/loops/engine.loops.ts. */
  dequeue(): void;
  /** It ended: look at the queue, and let go on what waits for it; after a crash: engine/loops/engine.loops.ts. */
  ended(executionId: string): void;
  /** Tell workers to stop operations; they also learn it from their heartbeat. */
  kill(executionId: string, runs: readonly KilledRun[]): void;
}
