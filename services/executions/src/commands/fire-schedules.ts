import { type AppError, isAppError } from '@baton/kernel';
import { decideOccurrences, hasSlipped, scheduleTimes } from '../domain/schedule';
import type { StartRequest } from '../domain/start-request';
import type { EngineDeps } from '../engine/deps';
import {
  advanceSchedule,
  type DueOccurrence,
  type DueSchedule,
  dueOccurrences,
  hasScheduleWork,
  insertOccurrences,
  lockDueSchedules,
  markFired,
  markNotFired,
} from '../store/schedules.sql';
import { requestExecution } from './request-execution';

/** Schedules decided in one transaction, and occurrences started in one tick. */
const BATCH = 20;

/**
 * The schedule tick, on every replica. First, in one transaction: schedules whose time has come are locked, each occurrence
 * gets its row, and the schedule moves on; the primary key of the rows is why none fires twice. Then what is due is
 * started, with a request id made of schedule and time: two replicas that start the same one get the same execution, and
 * what a crash left due the next tick starts.
 * @returns `again` while there may be more.
 */
export async function fireSchedules(deps: EngineDeps): Promise<{ again: boolean }> {
  if (!(await hasScheduleWork(deps.db.query))) return { again: false };
  const { isBehind } = await deps.db.tx(async (tx) => {
    const due = await lockDueSchedules(tx, BATCH);
    let isBehind = due.length === BATCH;
    for (const schedule of due) isBehind = (await decide(deps, tx, schedule)) || isBehind;
    return { isBehind };
  });
  const waiting = await dueOccurrences(deps.db.query, BATCH);
  let started = 0;
  for (const occurrence of waiting) if (await start(deps, occurrence)) started++;
  return { again: isBehind || (started > 0 && waiting.length === BATCH) };
}

type Tx = Parameters<typeof lockDueSchedules>[0];

/** True when occurrences of the past are left for another tick. */
async function decide(deps: EngineDeps, tx: Tx, schedule: DueSchedule): Promise<boolean> {
  const { decisions, ...next } = decided(deps, schedule);
  await insertOccurrences(tx, schedule.key, decisions);
  await advanceSchedule(tx, schedule.key, next);
  return next.nextMs !== null && next.nextMs <= schedule.now_ms && !next.isStopped;
}

/** A rule that cannot be followed, as one that a later release reads otherwise, stops instead of holding up all others. */
function decided(deps: EngineDeps, schedule: DueSchedule): ReturnType<typeof decideOccurrences> {
  try {
    return decideOccurrences(schedule, scheduleTimes(schedule), schedule.previous, schedule.now_ms);
  } catch (err) {
    deps.log.error(
      { err, scheduleId: schedule.id, deploymentId: schedule.deployment_id },
      'schedule has a broken rule',
    );
    return { decisions: [], nextMs: null, isStopped: true };
  }
}

/** False when it has to wait for another tick. */
async function start(deps: EngineDeps, due: DueOccurrence): Promise<boolean> {
  try {
    const { id } = await requestExecution(deps, startRequestOf(due));
    await deps.db.tx((tx) => markFired(tx, due, id));
    return true;
  } catch (err) {
    const earlier = isAppError(err, 'conflict_error') ? err.details.execution_id : undefined;
    if (typeof earlier === 'string') {
      // The schedule was changed between the accepted request of a process that died and this one.
      await deps.db.tx((tx) => markFired(tx, due, earlier));
      return true;
    }
    if (isAppError(err) && isRefusal(err)) {
      await deps.db.tx((tx) => markNotFired(tx, due, 'refused', err.message));
      return true;
    }
    deps.log.warn(
      { err, scheduleId: due.id, deploymentId: due.deployment_id },
      'a scheduled execution could not be started',
    );
    if (!hasSlipped(due, Date.parse(due.occurrence), due.now_ms)) return false;
    await deps.db.tx((tx) =>
      markNotFired(tx, due, 'skipped', `it could not be started in time: ${(err as Error).message}`),
    );
    return true;
  }
}

const isRefusal = (error: AppError): boolean => !error.entry.retryable && error.entry.http < 500;

function startRequestOf(due: DueOccurrence): StartRequest {
  const given = due.execution_arguments;
  return {
    tenant: due.tenant,
    createdBy: due.created_by,
    // Whether its creator may see the deployment was checked when the schedule was made.
    isAdministrator: true,
    requestId: `schedule:${due.key}:${due.occurrence}`,
    workflowId: due.workflow_id,
    deploymentId: due.deployment_id,
    parameters: due.parameters ?? {},
    allowCustomParameters: given.allow_custom_parameters ?? false,
    isForced: given.force ?? false,
    mayQueue: true,
    isDryRun: given.is_dry_run ?? false,
    waitAfterFailS: given.wait_after_fail ?? 600,
    scheduledForMs: null,
    isSystemWorkflow: false,
    isOfClient: true,
  };
}
