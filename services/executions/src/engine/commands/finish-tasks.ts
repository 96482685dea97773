import { executionsRpc } from '@baton/contracts';
import { isUuid, type Json, storableJson } from '@baton/kernel';
import type { Happening, TaskError } from '@baton/task-graph';
import { byKey } from '../../loops/each-alone';
import type { Ports } from '../../ports';
import type { LoadedGraph } from '../steps/graph-memory';
import { leasesOf } from '../steps/leases';
import { noteResult } from '../steps/result-room';
import { runStep } from '../steps/run-step';
import { isUnstorable } from '../steps/step-writer';
import { ownOutcomes } from './own-outcomes';
import { type WakeDeferredDeps, wakeEnded } from './wake-deferred';

export type FinishTasksDeps = Pick<
  Ports,
  'agents' | 'leases' | 'log' | 'tokenKey' | 'wake' | 'workflowConfig'
> &
  WakeDeferredDeps;

const { OutcomeKind } = executionsRpc;

/**
 * How long one execution may hold up the answer about others: the leases of the others run, and the worker does not know of them
 * yet.
 */
const PATIENCE_MS = 3_000;

/** Callbacks about the progress of one execution's step. */
interface Progress {
  /**
   * The step is being decided, leases included. Returns false when the answer about the others was sent already: leases would not
   * reach the worker.
   */
  onDecided(): boolean;
  /** The step waits for a lock; nothing that was decided before is written. */
  onLock(): void;
}

type Finished = Omit<executionsRpc.FinishTasksResponse, 'untaken'>;

/**
 * Takes the outcomes of operations, one transaction per execution, and leases newly ready operations to the reporting worker, up
 * to its room. An outcome of an older attempt, or of a lease that went to another worker, is refused. The worker repeats the call
 * until it is answered: an outcome that was taken before is then refused, which is harmless. With several executions, one that
 * fails, or does not come to its step for three seconds, is `untaken`: the others do not wait for it.
 */
export async function finishTasks(
  deps: FinishTasksDeps,
  request: executionsRpc.FinishTasksRequest,
): Promise<executionsRpc.FinishTasksResponse> {
  const { own, foreign } = await ownOutcomes(deps, request);
  const byExecution = byKey(own, ({ executionId }) => executionId);
  const rooms = roomsOf(request.room, [...byExecution.values()]);
  const isAlone = byExecution.size === 1 || !request.readsUntaken;
  const failures: unknown[] = [];
  // In parallel: their steps are written together.
  const done = await Promise.all(
    [...byExecution].map(async ([executionId, outcomes], i) => {
      const take = (progress: Progress) =>
        finishOf(deps, request.workerId, rooms[i]!, executionId, outcomes, progress);
      const finished = isAlone ? take(ALONE) : whileOthersWait(take);
      return await finished.catch((error: unknown) => {
        if (isAlone) throw error;
        failures.push(error);
        deps.log.warn({ err: error, executionId }, 'outcomes of an execution were not taken');
        return null;
      });
    }),
  );
  if (failures.length > 0 && failures.length === done.length) throw failures[0];
  const answer: executionsRpc.FinishTasksResponse = { refused: foreign, leases: [], untaken: [] };
  for (const [i, executionId] of [...byExecution.keys()].entries()) {
    answer.refused.push(...(done[i]?.refused ?? []));
    answer.leases.push(...(done[i]?.leases ?? []));
    if (!done[i]) answer.untaken.push(executionId);
  }
  return answer;
}

const ALONE: Progress = { onDecided: () => true, onLock: () => undefined };

/**
 * Runs `take` while other executions wait for the answer. Returns null when it does not come to its step in time: it then goes on,
 * and leases nothing. A step that is being written is awaited, since its leases would be lost.
 */
async function whileOthersWait(take: (progress: Progress) => Promise<Finished>): Promise<Finished | null> {
  let isDecided = false;
  let isOver = false;
  let isGivenUp = false;
  let leave!: (nothing: null) => void;
  const left = new Promise<null>((resolve) => {
    leave = resolve;
  });
  const look = (): void => {
    if (!isOver || isDecided) return;
    isGivenUp = true;
    leave(null);
  };
  const timer = setTimeout(() => {
    isOver = true;
    look();
  }, PATIENCE_MS);
  const taken = take({
    onDecided: () => {
      isDecided = true;
      return !isGivenUp;
    },
    onLock: () => {
      isDecided = false;
      look();
    },
  });
  return await Promise.race([taken, left]).finally(() => clearTimeout(timer));
}

/** Divides the worker's room: each execution may fill the places that its own outcomes free, and its part of the rest. */
function roomsOf(room: number, groups: readonly (readonly unknown[])[]): number[] {
  let left = room;
  const rooms = groups.map(({ length }) => {
    const own = Math.min(length, left);
    left -= own;
    return own;
  });
  const part = Math.floor(left / rooms.length);
  return rooms.map((own, i) => own + part + (i === 0 ? left - part * rooms.length : 0));
}

/**
 * Takes the outcomes of one execution. An outcome that cannot be stored fails its operation: repeated for ever, it would keep the
 * execution from ending.
 */
async function finishOf(
  deps: FinishTasksDeps,
  workerId: string,
  room: number,
  executionId: string,
  outcomes: readonly executionsRpc.TaskOutcome[],
  progress: Progress,
): Promise<Finished> {
  try {
    return await takeOutcomes(deps, workerId, room, executionId, outcomes, progress);
  } catch (error) {
    if (!isUnstorable(error)) throw error;
    const [only, ...others] = outcomes;
    deps.log.warn({ err: error, executionId, outcomes: outcomes.length }, 'an outcome could not be stored');
    if (others.length === 0)
      return await takeOutcomes(
        deps,
        workerId,
        room,
        executionId,
        [unstorable(only!, error as Error)],
        progress,
      );
  }
  const answer: Finished = { refused: [], leases: [] };
  for (const [i, outcome] of outcomes.entries()) {
    const isLast = i === outcomes.length - 1;
    const { refused, leases } = await finishOf(
      deps,
      workerId,
      isLast ? room : 0,
      executionId,
      [outcome],
      progress,
    );
    answer.refused.push(...refused);
    answer.leases.push(...leases);
  }
  return answer;
}

function unstorable(outcome: executionsRpc.TaskOutcome, { message }: Error): executionsRpc.TaskOutcome {
  const error = { exceptionType: 'NonRecoverableError', message: `its result cannot be stored: ${message}` };
  return {
    ...outcome,
    kind: OutcomeKind.OUTCOME_KIND_FAILED_NONRECOVERABLE,
    resultJson: '',
    errorJson: JSON.stringify(error),
  };
}

async function takeOutcomes(
  deps: FinishTasksDeps,
  workerId: string,
  room: number,
  executionId: string,
  outcomes: readonly executionsRpc.TaskOutcome[],
  progress: Progress,
): Promise<Finished> {
  let refused: string[] = [];
  const done = await runStep(
    deps,
    executionId,
    ({ execution, loaded }) => {
      refused = [];
      const happenings: Happening[] = [];
      for (const outcome of outcomes) {
        const happening = happeningOf(loaded, workerId, outcome);
        if (happening) happenings.push(happening);
        else refused.push(outcome.taskId);
      }
      const mayClaim = progress.onDecided() && execution.phase === 'running';
      return { happenings, claims: mayClaim ? [{ workerId, room, preferred: null }] : [] };
    },
    { alsoEnded: true, onLock: progress.onLock },
  );
  if (!done) return { refused: outcomes.map((outcome) => outcome.taskId), leases: [] };
  // An execution that only waits gives its place in the queue to others.
  if (outcomes.some(({ kind }) => kind === OutcomeKind.OUTCOME_KIND_DEFERRED)) deps.wake.dequeue();
  // An execution that these operations wait for may have ended before they waited: then nobody else wakes them. After a crash here,
  // settle-deferred does. An error does not stop the answer: its leases are taken, and a repeated call would not return them.
  const until = outcomes.flatMap(({ untilExecution }) => (isUuid(untilExecution) ? untilExecution : []));
  await wakeEnded(deps, until).catch((err: unknown) =>
    deps.log.warn({ err, executionId }, 'an operation that waits may be woken late'),
  );
  const { context, step } = done;
  refused.push(...step.refused.map(({ idx }) => context.loaded.ids[idx]!));
  return { refused, leases: leasesOf(deps, context, step.claimed.flat(), workerId) };
}

/** Converts an outcome; null when the run is not this worker's any more. */
function happeningOf(
  loaded: LoadedGraph,
  workerId: string,
  outcome: executionsRpc.TaskOutcome,
): Happening | null {
  const idx = loaded.idxById.get(outcome.taskId);
  if (idx === undefined || loaded.holders.get(idx) !== workerId) return null;
  const run = { idx, attempt: outcome.attempt };
  switch (outcome.kind) {
    case OutcomeKind.OUTCOME_KIND_SUCCEEDED: {
      const error = noteResult(loaded.results, idx, outcome.resultJson.length);
      if (error) return { kind: 'failed', ...run, error };
      return { kind: 'succeeded', ...run, result: parse(outcome.resultJson) };
    }
    case OutcomeKind.OUTCOME_KIND_RETRY: {
      const error = errorOf(outcome, true);
      return { kind: 'retry', ...run, message: error.message, retryAfterMs: error.retryAfterMs ?? null };
    }
    case OutcomeKind.OUTCOME_KIND_DEFERRED:
      return deferredOf(outcome, run);
    case OutcomeKind.OUTCOME_KIND_TIMED_OUT:
      return { kind: 'timed-out', ...run };
    case OutcomeKind.OUTCOME_KIND_CANCELLED:
      // Killed for a cancel that a resume has taken back: the operation is to run again.
      if (loaded.graph.flags.ended === null && loaded.graph.flags.cancel === null)
        return { kind: 'lost', ...run, isUnwanted: true };
      return { kind: 'failed', ...run, error: errorOf(outcome, false) };
    case OutcomeKind.OUTCOME_KIND_LEFT:
      return { kind: 'lost', ...run };
    case OutcomeKind.OUTCOME_KIND_FAILED_NONRECOVERABLE:
      return { kind: 'failed', ...run, error: errorOf(outcome, false) };
    default:
      return { kind: 'failed', ...run, error: errorOf(outcome, true) };
  }
}

/** Limits of the seconds between two looks of an operation that waits; a worker of another release may send any value. */
const CHECK_AFTER_S = { least: 0.5, most: 3600 };

function deferredOf(outcome: executionsRpc.TaskOutcome, run: { idx: number; attempt: number }): Happening {
  const asked = Number.isNaN(outcome.retryAfter) ? CHECK_AFTER_S.most : outcome.retryAfter;
  const seconds = Math.min(CHECK_AFTER_S.most, Math.max(CHECK_AFTER_S.least, asked));
  return {
    kind: 'deferred',
    ...run,
    message: errorOf(outcome, true).message,
    untilExecution: isUuid(outcome.untilExecution) ? outcome.untilExecution : null,
    checkAfterMs: Math.round(seconds * 1000),
  };
}

function errorOf(outcome: executionsRpc.TaskOutcome, recoverable: boolean): TaskError {
  const error = (parse(outcome.errorJson) ?? {}) as {
    exceptionType?: string;
    message?: string;
    traceback?: string | null;
    causes?: TaskError['causes'];
  };
  return {
    type: error.exceptionType ?? (recoverable ? 'RecoverableError' : 'NonRecoverableError'),
    message: error.message ?? 'the operation failed without a message',
    recoverable,
    retryAfterMs: outcome.retryAfter >= 0 ? outcome.retryAfter * 1000 : null,
    traceback: error.traceback ?? null,
    causes: error.causes ?? [],
  };
}

/** Results that are no JSON become null (reference/workflows.md 2.7). */
function parse(text: string): Json {
  if (text === '') return null;
  try {
    return JSON.parse(storableJson(text)) as Json;
  } catch {
    return null;
  }
}
