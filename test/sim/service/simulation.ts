import type { EnginePorts } from '../../../services/executions/src/engine/ports';
import type { Observed, Oracle } from '../oracle';
import type { MemoryDatabase } from './database';
import type { DecidedStates } from './decided-states';
import type { DeploymentsPeer } from './peers';
import type { VirtualProcess, VirtualWorld } from './virtual';
import type { Fleet } from './worker';

/** For so long things break; then all has time to heal. */
export const TROUBLED_MS = 40_000;

/** How long a plain cancel leaves what runs. */
export const CANCEL_GRACE_MS = 3_000;

export interface Simulation {
  world: VirtualWorld;
  database: MemoryDatabase;
  deployments: DeploymentsPeer;
  states: DecidedStates;
  oracle: Oracle;
  fleet: Fleet;
  replicas: Map<VirtualProcess, EnginePorts>;
  /** Each execution as the last commit left it. */
  looks: Map<string, Observed>;
  /** Executions whose cancel was accepted, and those whose end was announced. */
  cancelled: Set<string>;
  announced: Set<string>;
  /** When a cancel that stops operations was accepted. */
  killed: Map<string, number>;
  /** Executions of which somebody has asked to stop operations at once, whether that was accepted or not. */
  stopAsked: Set<string>;
  /** Runs that workers were told to stop: `<execution> <graph id> <idx> <attempt>`. */
  killedRuns: Set<string>;
  /** Executions that a client has ended by setting their status, perhaps. */
  endedByClient: Set<string>;
  /** Executions that are resumed by force, perhaps. */
  forced: Set<string>;
  /** Executions that were taken up again, and when each one came to an end. */
  resumed: Set<string>;
  endedMs: Map<string, number[]>;
  /** Executions that go on and are shown as ended, and since when. */
  wronglyShown: Map<string, number>;
  /** Before an operation is tried again. */
  retryMs: number;
  maxConcurrent: number;
  /** Nothing breaks in this one. */
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
