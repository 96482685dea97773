import { AppError, isAppError, isoInstant, notFound } from '@baton/kernel';
import { type RequestExecutionDeps, requestExecution } from '../../executions/commands/request-execution';
import { type StartRequest, startRequest, WAIT_AFTER_FAIL_S } from '../../executions/domain/start-request';
import { eachAlone } from '../../loops/each-alone';
import { inTurn, newRound } from '../../loops/rounds';
import type { Ports } from '../../ports';
import type { ExecutionRow } from '../../store/rows';
import { decideOccurrences, notStartedReason, type ScheduleRow, scheduleTimes } from '../domain/schedule';
import {
  advanceSchedule,
  type DueOccurrence,
  dueOccurrences,
  hasScheduleWork,
  insertOccurrences,
  lockDueSchedules,
  lockSchedule,
  markFired,
  markNotFired,
  type TimedSchedule,
} from '../store/schedules.sql';

export type FireSchedulesDeps = Pick<Ports, 'db' | 'log'> & RequestExecutionDeps;

/** The most schedules that one transaction decides, and occurrences that one tick starts. */
const BATCH = 20;
/** The most occurrences that a replica starts at once: half of its connections, in case all of them wait for a lock. */
const AT_ONCE = 4;

/**
 * The schedule tick, on every replica. First, one transaction locks the schedules whose time has come, inserts a row for each
 * occurrence, and advances the schedule; the primary key of the rows prevents that an occurrence fires twice. Then due
 * occurrences are started: one transaction accepts the execution and notes it on the occurrence. When two replicas decide
 * differently (both start, or one starts and one finds it too late), the first transaction counts. After a crash, the next tick
 * starts the occurrences that are still due.
 * @returns `again` while there may be more.
 */
export async function fireSchedules(
  deps: FireSchedulesDeps,
  round = newRound(),
): Promise<{ again: boolean }> {
  if (!(await hasScheduleWork(deps.db.query))) return { again: false };
  const { isBehind } = await deps.db.tx(async (tx) => {
    const due = await lockDueSchedules(tx, BATCH);
    let isBehind = due.length === BATCH;
    for (const schedule of due) isBehind = isDue(await decide(deps, tx, schedule)) || isBehind;
    return { isBehind };
  });
  const waiting = await inTurn(deps, round, {
    limit: BATCH,
    read: (place) => dueOccurrences(deps.db.query, BATCH, place),
    keyOf: ({ id }) => id,
    atOnce: AT_ONCE,
    work: (_key, rows) => eachAlone(rows, ({ due }) => start(deps, due)),
  });
  return { again: isBehind || waiting.length === BATCH };
}

type Tx = Parameters<typeof lockDueSchedules>[0];
type Deciding = Pick<Ports, 'log'>;

/**
 * Locks the schedule, after rows were inserted for all its past occurrences, and returns it. A change computes the next
 * occurrence from `now_ms` on, and would lose undecided earlier ones. Null: the schedule was deleted.
 */
export async function lockDecided(deps: Deciding, tx: Tx, key: string): Promise<TimedSchedule | null> {
  let schedule = await lockSchedule(tx, key);
  while (schedule && isDue(schedule)) schedule = await decide(deps, tx, schedule);
  return schedule;
}

const isDue = ({ enabled, next_occurrence: next, now_ms }: TimedSchedule): boolean =>
  enabled && next !== null && Date.parse(next) <= now_ms;

/** Decides past occurrences; returns the changed schedule. It is still due when more are left than one call decides. */
async function decide(deps: Deciding, tx: Tx, schedule: TimedSchedule): Promise<TimedSchedule> {
  const { decisions, ...next } = decided(deps, schedule);
  await insertOccurrences(tx, schedule.key, decisions);
  await advanceSchedule(tx, schedule.key, next);
  return {
    ...schedule,
    next_occurrence: next.nextMs === null ? null : isoInstant(next.nextMs),
    enabled: schedule.enabled && !next.isStopped,
    previous: decisions.some(({ outcome }) => outcome === 'due') ? 'running' : schedule.previous,
  };
}

/**
 * Decides occurrences. A schedule with a broken rule (e.g. one that a later release reads differently) is stopped, so that it
 * does not block others.
 */
function decided(deps: Deciding, schedule: TimedSchedule): ReturnType<typeof decideOccurrences> {
  try {
    return decideOccurrences(schedule, scheduleTimes(schedule), schedule.previous, schedule.now_ms);
  } catch (err) {
    deps.log.error(
      { err, scheduleId: schedule.id, deploymentId: schedule.deployment_id },
      'schedule has a broken rule',
    );
    const reason = `its rule cannot be followed: ${(err as Error).message}`;
    const come = { atMs: Date.parse(schedule.next_occurrence!), outcome: 'skipped' as const, reason };
    return { decisions: [come], nextMs: null, isStopped: true };
  }
}

/** Starts a due occurrence, or notes the reason why not. When neither can be decided yet, it stays due. */
async function start(deps: FireSchedulesDeps, due: DueOccurrence): Promise<void> {
  let isNoted = false;
  let reason: string | null = null;
  try {
    const { id } = await requestExecution(deps, startRequestOf(due), async (tx, row) => {
      if (isOfAnother(due, row)) throw notFound('Deployment', due.deployment_id);
      // Reads the present schedule: it may have been disabled meanwhile, or its time may have passed.
      const schedule = await lockSchedule(tx, due.key);
      reason = schedule && reasonOf(due, schedule);
      isNoted = reason === null && (await markFired(tx, due, row.id));
      if (!isNoted) throw new AppError('conflict_error', reason ?? 'The occurrence was decided elsewhere');
    });
    // The request was accepted before, by an earlier release.
    if (!isNoted) await noteAccepted(deps, due, id);
  } catch (err) {
    const earlier = isAppError(err, 'conflict_error') ? err.details.execution_id : undefined;
    // The schedule was changed between the request that an earlier release accepted and this one.
    if (typeof earlier === 'string') await noteAccepted(deps, due, earlier);
    else if (reason !== null) await skip(deps, due);
    else await noteFailedStart(deps, due, err);
  }
}

async function noteAccepted(deps: FireSchedulesDeps, due: DueOccurrence, executionId: string): Promise<void> {
  await deps.db.tx(async (tx) => {
    if (await lockSchedule(tx, due.key)) await markFired(tx, due, executionId);
  });
}

async function noteFailedStart(deps: FireSchedulesDeps, due: DueOccurrence, err: unknown): Promise<void> {
  if (isAppError(err) && isRefusal(err))
    return await deps.db.tx((tx) => markNotFired(tx, due, 'refused', err.message));
  const about = { err, scheduleId: due.id, deploymentId: due.deployment_id };
  deps.log.warn(about, 'a scheduled execution could not be started');
  if (reasonOf(due, due) !== null) await skip(deps, due, (err as Error).message);
}

/** Notes that the occurrence is not started any more, unless a change of its schedule meanwhile lets it start after all. */
async function skip(deps: FireSchedulesDeps, due: DueOccurrence, failure?: string): Promise<void> {
  await deps.db.tx(async (tx) => {
    const schedule = await lockSchedule(tx, due.key);
    const reason = schedule && reasonOf(due, schedule);
    const because = failure === undefined ? '' : `: ${failure}`;
    if (reason !== null) await markNotFired(tx, due, 'skipped', `${reason}${because}`);
  });
}

const reasonOf = (due: DueOccurrence, schedule: ScheduleRow & { now_ms: number }): string | null =>
  notStartedReason(schedule, Date.parse(due.occurrence), schedule.now_ms);

/**
 * Returns whether the execution belongs to a newer deployment with the same id. An unknown origin counts as the same deployment.
 */
const isOfAnother = (due: DueOccurrence, { deployment_made_by: madeBy }: ExecutionRow): boolean =>
  due.deployment_made_by !== null && madeBy !== null && due.deployment_made_by !== madeBy;

const isRefusal = (error: AppError): boolean => !error.entry.retryable && error.entry.http < 500;

function startRequestOf(due: DueOccurrence): StartRequest {
  const given = due.execution_arguments;
  return startRequest({
    tenant: due.tenant,
    createdBy: due.created_by,
    // The creator's access to the deployment was checked when the schedule was created.
    isAdministrator: true,
    requestId: `schedule:${due.key}:${due.occurrence}`,
    workflowId: due.workflow_id,
    deploymentId: due.deployment_id,
    parameters: due.parameters ?? {},
    allowCustomParameters: given.allow_custom_parameters ?? false,
    isForced: given.force ?? false,
    mayQueue: true,
    isDryRun: given.is_dry_run ?? false,
    waitAfterFailS: given.wait_after_fail ?? WAIT_AFTER_FAIL_S,
    isOfClient: true,
  });
}
