import type { Broker } from '@baton/broker';
import {
  type Envelope,
  executionAccepted,
  executionFinished,
  executionRequested,
  firstTaskReady,
  taskReady,
  tasksCancelled,
} from '@baton/contracts';
import { isAppError, type Log, Secret, systemClock } from '@baton/kernel';
import { createLeaseProofs } from '@baton/trust';
import { afterEnds } from '../../../services/executions/src/engine/commands/after-ends';
import {
  deliverStates,
  forgetDelivered,
} from '../../../services/executions/src/engine/commands/deliver-states';
import { driveExecution } from '../../../services/executions/src/engine/commands/drive-execution';
import { wakeExecution } from '../../../services/executions/src/engine/commands/wake-executions';
import { engineLoops } from '../../../services/executions/src/engine/loops/engine.loops';
import type { EnginePorts } from '../../../services/executions/src/engine/ports';
import { createGraphMemory } from '../../../services/executions/src/engine/steps/graph-memory';
import { createStepWriter } from '../../../services/executions/src/engine/steps/step-writer';
import { createWakes } from '../../../services/executions/src/engine/wakes';
import { createAcceptedRows } from '../../../services/executions/src/executions/accepted-rows';
import { createAcceptor } from '../../../services/executions/src/executions/acceptor';
import { dequeueExecutions } from '../../../services/executions/src/executions/commands/dequeue-executions';
import { noQuota } from '../../../services/executions/src/executions/domain/quota';
import { specTexts } from '../../../services/executions/src/executions/domain/refusal-texts';
import { newPassedOver } from '../../../services/executions/src/executions/passed-over';
import { createTurns } from '../../../services/executions/src/executions/turns';
import { scheduleLoops } from '../../../services/executions/src/schedules/loops/schedules.loops';
import { dbOf, type MemoryDatabase } from './database';
import type { DeploymentsPeer } from './peers';
import { CANCEL_GRACE_MS } from './simulation';
import type { VirtualWorld } from './virtual';

/** Creates one replica of the engine, as `composeEngine` of the executions service does, over the tables in memory. */
export function newEngine(
  world: VirtualWorld,
  database: MemoryDatabase,
  deployments: DeploymentsPeer,
  {
    publish,
    maxConcurrent,
    retryMs,
  }: { publish: (envelope: Envelope) => void; maxConcurrent: number; retryMs: number },
): EnginePorts {
  const log = watchfulLog(world);
  const broker = {
    publish: async (envelopes: readonly Envelope[]) => {
      await world.pause(1);
      envelopes.forEach(publish);
    },
  } as Broker;
  const db = dbOf(database);
  const wake = createWakes({ broker, clock: systemClock, log }, () => ({
    drive: (id) => driveExecution(deps, id),
    deliver: (ids) => deliverStates(deps, ids),
    settle: (id) => forgetDelivered(deps, id),
    due: (id) => wakeExecution(deps, id),
    dequeue: async () => void (await dequeueExecutions(deps)),
    ended: (ids) => afterEnds(deps, ids),
    streams: () => undefined,
  }));
  const accepted = createAcceptedRows();
  const deps: EnginePorts = {
    db,
    memory: createGraphMemory(accepted),
    turns: createTurns(),
    accepted,
    acceptor: createAcceptor(db),
    steps: createStepWriter(db),
    deployments: deployments.port,
    catalog: { hasBlueprint: async () => true, findUpload: async () => null },
    findUser: async () => null,
    wake,
    queue: {
      isPaused: () => false,
      maxConcurrent: () => maxConcurrent,
      quota: () => noQuota,
      isRunningLimited: () => false,
      weights: () => ({}),
    },
    agents: { leaseMs: 900_000, waitMs: 300_000 },
    passedOver: newPassedOver(),
    cancelGraceMs: CANCEL_GRACE_MS,
    tokenKey: 'simulation',
    texts: specTexts,
    leases: createLeaseProofs(new Secret('simulation')),
    workflowConfig: { taskRetries: 2, taskRetryIntervalMs: retryMs, subgraphRetries: 1 },
    log,
  };
  return deps;
}

/** Loops that are simulated; the others belong to nested executions and to log batches. */
const LOOPS = new Set([
  'wake-executions',
  'lease-reaper',
  'announce-unclaimed',
  'deliver-states',
  'tell-owed-ends',
  'dequeue',
  'settle-deferred',
  'schedule-tick',
]);

/** Starts the loops of one replica, each running for ever; a failed tick is retried by the next one. */
export function startLoops(
  world: VirtualWorld,
  deps: EnginePorts,
  spawn: (work: () => Promise<unknown>) => void,
): void {
  const loops = [...engineLoops(deps), ...scheduleLoops(deps, { keepOccurrencesDays: 7 })];
  for (const loop of loops.filter(({ name }) => LOOPS.has(name)))
    spawn(async () => {
      for (let result: unknown; ; ) {
        await world.pause(Math.min(loop.intervalMs, dueInMs(result)));
        result = await loop.tickOnce().catch((error: unknown) => {
          if (!isAppError(error)) throw error;
        });
      }
    });
}

/** Returns the delay until the next tick that the result of a tick requests, as packages/service-runtime interprets it. */
function dueInMs(result: unknown): number {
  const { again, againInMs } = (result ?? {}) as { again?: boolean; againInMs?: number };
  return again ? 0 : (againInMs ?? Number.POSITIVE_INFINITY);
}

/** The relay: sends messages that were left in the outbox again. */
export async function relay(
  world: VirtualWorld,
  { outbox }: MemoryDatabase,
  publish: (envelope: Envelope) => void,
): Promise<never> {
  for (;;) {
    await world.pause(5_000);
    for (const envelope of [...outbox.values()]) {
      publish(envelope);
      await world.pause(0.5);
      outbox.delete(envelope.id);
    }
  }
}

export const MESSAGES = {
  accepted: executionAccepted.type,
  finished: executionFinished.type,
  requested: executionRequested.type,
  ready: taskReady.type,
  firstReady: firstTaskReady.type,
  cancelled: tasksCancelled.type,
};

/** A logger that turns errors into failures: production only logs a bug of the engine; here it breaks the run. */
function watchfulLog(world: VirtualWorld): Log {
  const note = (fields: object, message: string): void => {
    const { err } = fields as { err?: unknown };
    if (err !== undefined && (isAppError(err) || /^not done within \d+ ms$/.test((err as Error).message)))
      return;
    const text = err instanceof Error ? (err.stack ?? err.message) : JSON.stringify(fields);
    world.surprises.push(`${message}: ${text}`);
  };
  const log: Log = {
    debug: () => undefined,
    info: () => undefined,
    warn: (fields, message) => {
      if ('err' in fields) note(fields, message);
    },
    error: note,
    child: () => log,
  };
  return log;
}
