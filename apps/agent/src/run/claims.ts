/** Asks for operations: with each new stream, when the manager names one, and from time to time. */
import type { Clock, Log } from '@baton/kernel';
import { startLeases, type Worker } from '@baton/worker/parts';
import type { TaskJournal } from '../journal/task-journal';
import type { AgentExecutions } from './agent-executions';

export interface ClaimsDeps {
  executions: AgentExecutions;
  worker: Worker;
  journal: TaskJournal;
  tenant: string;
  clock: Clock;
  log: Log;
  isOpen(): boolean;
}

export interface Claims {
  /** There is a new stream: what the agent holds is settled first. */
  opened(): void;
  /** The manager has named a ready operation. */
  named(executionId: string, taskId: string): Promise<void>;
  /** An answer with leases may be lost: what the agent holds is settled soon. */
  doubt(): void;
  start(): void;
  stop(): void;
}

/** The manager says what is ready, and says it again (executions: announce-to-agents.ts). This is for what no notice reaches. */
const EVERY_MS = 900_000;
const RETRY_MS = 1_000;

export function createClaims(deps: ClaimsDeps): Claims {
  let isNew = false;
  let isAsking = false;
  let isMissed = false;
  let timer: NodeJS.Timeout | undefined;

  const ask = async (): Promise<void> => {
    if (!deps.isOpen()) return;
    if (isAsking) {
      isMissed = true;
      return;
    }
    isAsking = true;
    try {
      const isFirst = isNew;
      isNew = false;
      await claimAll(deps, isFirst).catch((error: unknown) => {
        // The answer may be lost, and its leases with it: the next question settles them as a new stream does.
        isNew = true;
        throw error;
      });
    } catch (error) {
      deps.log.warn({ reason: (error as Error).message }, 'asking for operations failed');
      askSoon();
    } finally {
      isAsking = false;
      if (isMissed) {
        isMissed = false;
        void ask();
      }
    }
  };

  const askSoon = (): void => void setTimeout(() => void ask(), RETRY_MS).unref();
  const doubt = (): void => {
    isNew = true;
    askSoon();
  };

  return {
    opened: () => {
      isNew = true;
      void ask();
    },
    named: async (executionId, taskId) => {
      if (deps.worker.isDraining()) return;
      // It looks whether there is room again.
      if (deps.journal.isFull()) return ask();
      if (!(await claimNamed(deps, executionId, taskId))) doubt();
    },
    doubt,
    start: () => {
      timer = setInterval(() => void ask(), EVERY_MS);
    },
    stop: () => clearInterval(timer),
  };
}

/** Claims the operation that the manager has named. False: the claim failed, and its answer may be lost. */
async function claimNamed(deps: ClaimsDeps, executionId: string, taskId: string): Promise<boolean> {
  const { tasks, slots } = deps.worker.leaseDeps;
  if (tasks.get(taskId)?.phase === 'running') return true;
  // Without a place it is found when one gets free, by FinishTasks or the next notice.
  const places = slots.takeSome(1, deps.tenant);
  if (places === 0) return true;
  const sentAt = deps.clock.monotonic();
  try {
    const leases = await deps.executions.claim(executionId, taskId, places);
    startLeases(deps.worker.leaseDeps, leases, { places, tenant: deps.tenant }, sentAt);
    return true;
  } catch (error) {
    slots.give(places, deps.tenant);
    deps.log.warn({ taskId, reason: (error as Error).message }, 'a named operation could not be claimed');
    return false;
  }
}

async function claimAll(deps: ClaimsDeps, isNewStream: boolean): Promise<void> {
  const { worker, tenant, executions, clock } = deps;
  const { tasks, slots } = worker.leaseDeps;
  const isClosed = worker.isDraining() || (deps.journal.isFull() && !(await deps.journal.hasRoom()));
  const most = isClosed ? 0 : slots.freeFor(tenant);
  const places = slots.takeSome(most, tenant);
  if (places === 0 && !isNewStream) return;
  const sentAt = clock.monotonic();
  try {
    const held = tasks.all().map(({ taskId, attempt }) => ({ taskId, attempt }));
    const { leases, lost } = await executions.claimAll({ room: places, isNewStream, held });
    for (const taskId of lost) {
      const task = tasks.get(taskId);
      if (!task) continue;
      deps.log.warn({ taskId, attempt: task.attempt }, 'the operation is not of this agent any more');
      tasks.stop(task, 'lease-lost');
      worker.reporter.discard(task);
    }
    startLeases(worker.leaseDeps, leases, { places, tenant }, sentAt);
  } catch (error) {
    slots.give(places, tenant);
    throw error;
  }
}
