import type { EnginePorts } from '../../../services/executions/src/engine/ports';
import type { Observed, Oracle } from '../oracle';
import type { MemoryDatabase } from './database';
import type { DecidedStates } from './decided-states';
import type { DeploymentsPeer } from './peers';
import type { VirtualProcess, VirtualWorld } from './virtual';
import type { Fleet } from './worker';

/** Duration of the faults; afterwards everything has time to heal. */
export const TROUBLED_MS = 40_000;

/** Grace period that a plain cancel gives running operations. */
export const CANCEL_GRACE_MS = 3_000;

export interface Simulation {
  world: VirtualWorld;
  database: MemoryDatabase;
  deployments: DeploymentsPeer;
  states: DecidedStates;
  oracle: Oracle;
  fleet: Fleet;
  replicas: Map<VirtualProcess, EnginePorts>;
  /** Each execution as of the last commit. */
  looks: Map<string, Observed>;
  /** Executions whose cancel was accepted, and executions whose end was announced. */
  cancelled: Set<string>;
  announced: Set<string>;
  /** Time at which a cancel that stops operations was accepted. */
  killed: Map<string, number>;
  /** Executions for which a client requested to stop operations immediately, accepted or not. */
  stopAsked: Set<string>;
  /** Runs that workers were told to stop: `<execution> <graph id> <idx> <attempt>`. */
  killedRuns: Set<string>;
  /** Executions that a client may have ended by setting their status. */
  endedByClient: Set<string>;
  /** Executions that may have been resumed by force. */
  forced: Set<string>;
  /** Executions that were resumed; and the times at which each execution ended. */
  resumed: Set<string>;
  endedMs: Map<string, number[]>;
  /** Running executions that are shown as ended, each with the time since when. */
  wronglyShown: Map<string, number>;
  /** Delay before an operation is retried. */
  retryMs: number;
  maxConcurrent: number;
  /** A world without faults. */
  isCalm: boolean;
}

export function newProcess(name: string, boot: (process: VirtualProcess) => void): VirtualProcess {
  const process: VirtualProcess = {
    name,
    epoch: 0,
    isUp: false,
    boot: () => boot(process),
    onCrash: new Set(),
  };
  return process;
}
