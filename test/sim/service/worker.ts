import { type Envelope, executionsRpc } from '@baton/contracts';
import type { Happening } from '@baton/task-graph';
import { claimTask } from '../../../services/executions/src/engine/commands/claim-task';
import { finishTasks } from '../../../services/executions/src/engine/commands/finish-tasks';
import { heartbeat } from '../../../services/executions/src/engine/commands/renew-leases';
import type { EnginePorts } from '../../../services/executions/src/engine/ports';
import { leaseMs } from '../../../services/executions/src/engine/steps/task-writes';
import type { RunId } from '../store';
import type { LedgerEntry } from '../worker';
import { call } from './peers';
import type { VirtualProcess, VirtualWorld } from './virtual';

const { OutcomeKind } = executionsRpc;
const ROOM = 3;
/** Factor by which a worker is frozen more often before a report than in the middle of an operation. */
const ZOMBIES = 5;
/** Maximum duration for which a worker is frozen, in leases. */
const FROZEN_LEASES = 2.5;
const HEARTBEAT_MS = leaseMs / 3;

export interface Fleet {
  world: VirtualWorld;
  engines: readonly VirtualProcess[];
  depsOf: (engine: VirtualProcess) => EnginePorts;
  ledger: LedgerEntry[];
  runOf: (lease: executionsRpc.TaskLease) => RunId;
  outcomeOf: (run: RunId) => { happening: Happening; durationMs: number };
  /** Runs whose outcome was accepted. */
  taken: Set<string>;
  /** Whether the task belongs to the current graph of its execution. */
  isCurrent: (of: { executionId: string; taskId: string }) => boolean;
  /** Called when a worker lost a run of this execution although it had kept its lease. */
  lost: (execution: string, text: string) => void;
}

interface Held {
  execution: string;
  attempt: number;
  isKilled: boolean;
  keptUntil: number;
}

/** The state of one life of a worker. */
export interface Hands {
  workerId: string;
  process: VirtualProcess;
  running: Map<string, Held>;
  /**
   * The last attempt of each task that ran here. The same or an earlier attempt does not run here again
   * (services/worker/src/claim/held-task.ts).
   */
  begun: Map<string, number>;
  outcomes: executionsRpc.TaskOutcome[];
  isReporting: boolean;
  /** The whole process is frozen: it renews nothing. */
  isFrozen: boolean;
}

export function newHands(process: VirtualProcess): Hands {
  const workerId = `${process.name}#${process.epoch}`;
  return {
    workerId,
    process,
    running: new Map(),
    begun: new Map(),
    outcomes: [],
    isReporting: false,
    isFrozen: false,
  };
}

const roomOf = (hands: Hands): number => Math.max(0, ROOM - hands.running.size);

/** Handles a wake-up: claims as many tasks as there is room for. */
export async function wakeWorker(
  fleet: Fleet,
  hands: Hands,
  { executionId, taskId }: { executionId: string; taskId: string },
): Promise<void> {
  const room = roomOf(hands);
  if (room === 0) return;
  const leases = await call(fleet.world, fleet.engines, (engine) =>
    claimTask(fleet.depsOf(engine), { workerId: hands.workerId, executionId, taskId, room }),
  );
  for (const lease of leases ?? []) begin(fleet, hands, lease);
}

function begin(fleet: Fleet, hands: Hands, lease: executionsRpc.TaskLease): void {
  if ((hands.begun.get(lease.taskId) ?? 0) >= lease.attempt) return;
  hands.begun.set(lease.taskId, lease.attempt);
  // A worker that gets the next run of a task has lost the previous one (services/worker/src/claim/leases.ts).
  const known = hands.running.get(lease.taskId);
  if (known) known.keptUntil = 0;
  hands.running.set(lease.taskId, {
    execution: lease.executionId,
    attempt: lease.attempt,
    isKilled: false,
    keptUntil: fleet.world.now + leaseMs / 2,
  });
  fleet.world.spawn(hands.process, () => run(fleet, hands, lease));
}

async function run(fleet: Fleet, hands: Hands, lease: executionsRpc.TaskLease): Promise<void> {
  const { world, ledger } = fleet;
  const of = fleet.runOf(lease);
  const entry: LedgerEntry = { ...of, worker: hands.workerId, from: world.now, to: null, outcome: null };
  ledger.push(entry);
  const { happening, durationMs } = fleet.outcomeOf(of);
  const held = hands.running.get(lease.taskId)!;
  for (let left = durationMs; left > 0; left -= 200) {
    await world.pause(Math.min(left, 200));
    if (world.random.chance(world.faults.pause)) await freeze(fleet, hands, () => false);
    // The worker kills its own run before another worker may begin the next one.
    if (held.isKilled || world.now > held.keptUntil) break;
  }
  if (world.now > held.keptUntil) {
    if (hands.running.get(lease.taskId) === held) hands.running.delete(lease.taskId);
    return;
  }
  entry.to = world.now;
  entry.outcome = held.isKilled ? 'killed' : happening.kind;
  hands.outcomes.push(outcomeOf(lease, held.isKilled ? null : happening));
  if (!hands.isReporting) await report(fleet, hands);
}

/** Handles the message of a kill (services/worker/src/messages/on-tasks-cancelled.ts). */
export function stopRuns({ running }: Hands, { payload }: Envelope): void {
  const { taskIds, attempts } = payload as { taskIds: string[]; attempts?: number[] };
  for (const [i, id] of taskIds.entries()) {
    const held = running.get(id);
    if (held && (attempts === undefined || attempts[i] === held.attempt)) held.isKilled = true;
  }
}

/** Reports all ended runs together until an engine answers; takes new tasks from the answer. */
async function report(fleet: Fleet, hands: Hands): Promise<void> {
  hands.isReporting = true;
  /** Outcomes that may have been accepted already. */
  const told = new Set<executionsRpc.TaskOutcome>();
  while (hands.outcomes.length > 0) {
    const outcomes = [...hands.outcomes];
    // Frozen between the check of its lease and the call: the report of a zombie, which must be refused.
    if (fleet.world.random.chance(fleet.world.faults.pause * ZOMBIES))
      await freeze(fleet, hands, () => outcomes.some((one) => isRunAnew(fleet, one)));
    const room = Math.min(ROOM, roomOf(hands) + outcomes.length);
    const answer = await call(fleet.world, fleet.engines, (engine) =>
      finishTasks(fleet.depsOf(engine), { workerId: hands.workerId, outcomes, room, readsUntaken: true }),
    );
    if (!answer) {
      for (const one of outcomes) told.add(one);
      await fleet.world.pause(500);
      continue;
    }
    const isTaken = (one: executionsRpc.TaskOutcome) => !answer.untaken.includes(one.executionId);
    for (const one of outcomes) if (!isTaken(one)) told.add(one);
    hands.outcomes = hands.outcomes.filter((one) => !outcomes.includes(one) || !isTaken(one));
    for (const one of outcomes.filter(isTaken)) {
      const known = hands.running.get(one.taskId);
      const held = known?.attempt === one.attempt ? known : null;
      if (held) hands.running.delete(one.taskId);
      if (!answer.refused.includes(one.taskId)) noteTaken(fleet, one);
      else if (held && held.keptUntil > fleet.world.now && !told.has(one)) judgeRefusal(fleet, outcomes, one);
    }
    for (const lease of answer.leases) begin(fleet, hands, lease);
  }
  hands.isReporting = false;
}

/** Notes outcomes that end an attempt. A waiting operation, and one that was killed for a cancel that was taken back, continue. */
function noteTaken(fleet: Fleet, { kind, ...of }: executionsRpc.TaskOutcome): void {
  if (kind === OutcomeKind.OUTCOME_KIND_DEFERRED || kind === OutcomeKind.OUTCOME_KIND_CANCELLED) return;
  const { execution, graph, idx, attempt } = fleet.runOf(of as unknown as executionsRpc.TaskLease);
  fleet.taken.add(`${execution} ${graph} ${idx} ${attempt}`);
}

/** Checks that a worker that always renewed its lease is not refused. */
function judgeRefusal(
  fleet: Fleet,
  outcomes: readonly executionsRpc.TaskOutcome[],
  { executionId, taskId }: executionsRpc.TaskOutcome,
): void {
  // A refusal names only the task: of two runs of the task it means the earlier one.
  if (outcomes.filter((one) => one.taskId === taskId).length > 1) return;
  if (fleet.isCurrent({ executionId, taskId }))
    fleet.lost(executionId, `task ${taskId} was refused to a worker that had kept it`);
}

/** Freezes the process for longer than its leases last, or until `isWoken`. */
async function freeze({ world }: Fleet, hands: Hands, isWoken: () => boolean): Promise<void> {
  const until = world.now + leaseMs * FROZEN_LEASES;
  hands.isFrozen = true;
  while (world.now < until && !isWoken()) await world.pause(20);
  hands.isFrozen = false;
}

/** Whether another worker runs a later attempt: the worst moment for the report of an earlier one. */
function isRunAnew(fleet: Fleet, { executionId, taskId, attempt }: executionsRpc.TaskOutcome): boolean {
  const { graph, idx } = fleet.runOf({ executionId, taskId, attempt } as executionsRpc.TaskLease);
  return fleet.ledger.some(
    (run) =>
      run.execution === executionId &&
      run.graph === graph &&
      run.idx === idx &&
      run.attempt > attempt &&
      run.to === null,
  );
}

/** Renews all leases of the worker. Ends runs that it has lost or must kill. */
export async function beat(fleet: Fleet, hands: Hands): Promise<never> {
  const { world } = fleet;
  for (;;) {
    await world.pause(HEARTBEAT_MS);
    if (hands.isFrozen) continue;
    const taskIds = [...hands.running.keys()];
    const answer = await call(world, fleet.engines, (engine) =>
      heartbeat(fleet.depsOf(engine), { workerId: hands.workerId, workerJson: '{}', taskIds, proofs: [] }),
    );
    if (!answer) continue;
    for (const id of taskIds) {
      const held = hands.running.get(id);
      if (!held) continue;
      if (answer.kill.includes(id)) held.isKilled = true;
      if (answer.lost.includes(id)) {
        const isHeld = held.keptUntil > world.now && !hands.outcomes.some(({ taskId }) => taskId === id);
        if (isHeld) fleet.lost(held.execution, `task ${id} was taken from a worker that had kept it`);
        held.keptUntil = 0;
      } else held.keptUntil = world.now + leaseMs / 2;
    }
  }
}

function outcomeOf(
  { taskId, executionId, attempt }: executionsRpc.TaskLease,
  happening: Happening | null,
): executionsRpc.TaskOutcome {
  const of = { ...executionsRpc.TaskOutcome.fromPartial({ taskId, executionId, attempt }), retryAfter: -1 };
  const error = (type: string) =>
    JSON.stringify({ exceptionType: type, message: `boom in attempt ${attempt}` });
  switch (happening?.kind) {
    case 'succeeded':
      return {
        ...of,
        kind: OutcomeKind.OUTCOME_KIND_SUCCEEDED,
        // The oracle compares this with the accepted attempt.
        resultJson: JSON.stringify({ ofAttempt: attempt }),
      };
    case 'retry':
      return {
        ...of,
        kind: OutcomeKind.OUTCOME_KIND_RETRY,
        retryAfter: (happening.retryAfterMs ?? 0) / 1000,
        errorJson: error('OperationRetry'),
      };
    case 'deferred':
      return {
        ...of,
        kind: OutcomeKind.OUTCOME_KIND_DEFERRED,
        retryAfter: happening.checkAfterMs / 1000,
        untilExecution: happening.untilExecution ?? '',
        errorJson: error('OperationDeferred'),
      };
    case 'timed-out':
      return { ...of, kind: OutcomeKind.OUTCOME_KIND_TIMED_OUT };
    case 'failed':
      return happening.error.recoverable
        ? { ...of, kind: OutcomeKind.OUTCOME_KIND_FAILED_RECOVERABLE, errorJson: error('RecoverableError') }
        : {
            ...of,
            kind: OutcomeKind.OUTCOME_KIND_FAILED_NONRECOVERABLE,
            errorJson: error('NonRecoverableError'),
          };
    default:
      return { ...of, kind: OutcomeKind.OUTCOME_KIND_CANCELLED };
  }
}
