import { type Happening, isInGrace } from '@baton/task-graph';
import {
  betweenPhases,
  type DueExecution,
  dueTimers,
  lockExecution,
  updateExecution,
} from '../../executions/store/executions.sql';
import { eachAlone } from '../../loops/each-alone';
import { inTurn, newRound, type Round } from '../../loops/rounds';
import type { Ports } from '../../ports';
import type { Place } from '../../store/round.sql';
import type { KilledRun } from '../../store/rows';
import { STOP_LIMIT_MS } from '../domain/cancel';
import { type RunStepDeps, runStep, type StepOptions, type StepPlanner } from '../steps/run-step';
import { requestKill } from '../store/tasks.sql';
import { type AwaitNestedDeps, settleNested } from './await-nested';

type WakeExecutionsDeps = Pick<Ports, 'db' | 'log' | 'wake'> & AwaitNestedDeps & RunStepDeps;

const BATCH = 50;
/** How long a phase without workers may last before another replica drives it as well. */
const STALLED_MS = 5_000;

/** Positions of the loop: in the executions with a due timer, and in the executions between two phases. */
export interface WakeRounds {
  timers: Round;
  phases: Round;
}

export const newWakeRounds = (): WakeRounds => ({ timers: newRound(), phases: newRound() });

/**
 * Wakes executions whose timer is due or whose driver died, in this process. They come in turn: executions that no replica can
 * drive, for example on a broken deployment, stay the oldest for ever.
 */
export async function wakeExecutions(deps: WakeExecutionsDeps, rounds = newWakeRounds()): Promise<number> {
  const { query } = deps.db;
  const limit = BATCH;
  const keyOf = ({ id }: DueExecution) => id;
  const work = async (id: string, [row]: readonly DueExecution[]) => {
    if (row?.phase === 'awaiting') await settleNested(deps, id);
    else if (row?.phase === 'running' || row?.phase === 'waiting') await wakeExecution(deps, id);
    else deps.wake.drive(id);
  };
  let count = 0;
  const looks: [Round, (place: Place | null) => Promise<DueExecution[]>][] = [
    [rounds.timers, (place) => dueTimers(query, limit, place)],
    [rounds.phases, (place) => betweenPhases(query, limit, STALLED_MS, place)],
  ];
  await eachAlone(looks, async ([round, read]) => {
    count += (await inTurn(deps, round, { limit, read, keyOf, work })).length;
  });
  return count;
}

/**
 * Handles the due timers of one execution: retries, the deadline after a failure, the grace of a cancel, its scheduled time, the
 * time limit of the executions that it has started.
 */
export async function wakeExecution(deps: WakeExecutionsDeps, executionId: string): Promise<void> {
  if (await stopAfterGrace(deps, executionId)) return;
  const done = await runStep(deps, executionId, ({ execution, loaded }) => {
    const due = [...loaded.timers].filter(([, at]) => at <= execution.now_ms);
    if (due.length === 0) return null;
    return { happenings: due.map(([idx]): Happening => ({ kind: 'due', idx })) };
  });
  if (done) return;
  await settleNested(deps, executionId);
  const isReleased = await deps.db.tx(async (tx) => {
    const execution = await lockExecution(tx, executionId);
    if (execution?.status !== 'scheduled' || Date.parse(execution.scheduled_for!) > execution.now_ms)
      return false;
    await updateExecution(tx, executionId, { status: 'queued', wake_at: null });
    return true;
  });
  if (isReleased) deps.wake.dequeue();
}

/**
 * After the grace of a plain cancel, has workers stop the operations that still run. The execution ends with the answers of the
 * workers, or when they do not answer in time. After a crash of this process, the loop finds the timer in `wake_at`, and workers
 * find the mark with their heartbeat. Returns false when nothing was to be stopped.
 */
async function stopAfterGrace(deps: WakeExecutionsDeps, executionId: string): Promise<boolean> {
  let killed: KilledRun[] = [];
  const planned: StepPlanner = ({ execution, loaded: { graph } }) =>
    isInGrace(graph) && graph.flags.grace!.until <= execution.now_ms
      ? { happenings: [{ kind: 'stop', until: execution.now_ms + STOP_LIMIT_MS }] }
      : null;
  const within: StepOptions['within'] = async (tx, { loaded }) => {
    killed = await requestKill(tx, loaded.graphId);
  };
  const done = await runStep(deps, executionId, planned, { within });
  if (killed.length > 0) deps.wake.kill(executionId, killed);
  return done !== null;
}
