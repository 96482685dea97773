import { isoInstant, type JsonObject } from '@baton/kernel';
import { type Occurrences, occurrencesOf, type Timing } from './occurrences';
import type { ScheduleRule } from './recurrence';

/** Arguments of the executions that a schedule starts; empty when none were given. */
export interface ExecutionArguments {
  allow_custom_parameters?: boolean;
  force?: boolean;
  is_dry_run?: boolean;
  wait_after_fail?: number;
}

/** A row of `execution_schedules`. Instants are ISO texts. */
export interface ScheduleRow {
  key: string;
  tenant: string;
  deployment_id: string;
  /** The execution that created the deployment; null: not known. */
  deployment_made_by: string | null;
  id: string;
  workflow_id: string;
  parameters: JsonObject | null;
  execution_arguments: ExecutionArguments;
  since: string | null;
  until: string | null;
  rule: ScheduleRule;
  slip_minutes: number;
  stop_on_fail: boolean;
  enabled: boolean;
  next_occurrence: string | null;
  latest_execution_id: string | null;
  visibility: string;
  created_by: string;
  created_at: string;
}

export type OccurrenceOutcome = 'due' | 'fired' | 'refused' | 'skipped';

/** The decision on an occurrence whose time has come: `due` is started next. */
export interface OccurrenceDecision {
  atMs: number;
  outcome: 'due' | 'skipped';
  reason: string | null;
}

/** The end of the previous run, as far as the next one depends on it. */
export type PreviousRun = 'none' | 'running' | 'failed' | 'ended';

/** Grace period beyond the slip: a late tick is no reason to skip an occurrence (reference/rest-api.md 6.8). */
export const GRACE_MS = 60_000;
/** The most occurrences that one call decides; after a long stop, several calls record the missed ones. */
const MAX_DECISIONS = 500;

/** Returns the times of a stored schedule's rule. @throws AppError bad_parameters_error for a broken rule */
export function scheduleTimes(
  schedule: Pick<ScheduleRow, 'rule' | 'since' | 'until' | 'created_at'>,
): Occurrences {
  return occurrencesOf(timingOf(schedule));
}

/** Returns the first time of a schedule after `nowMs` in the form of its row; null: none. @throws AppError as scheduleTimes */
export function nextOccurrence(schedule: Parameters<typeof scheduleTimes>[0], nowMs: number): string | null {
  const next = scheduleTimes(schedule).next(nowMs);
  return next === null ? null : isoInstant(next);
}

function timingOf({
  rule,
  since,
  until,
  created_at,
}: Pick<ScheduleRow, 'rule' | 'since' | 'until' | 'created_at'>): Timing {
  return {
    rule,
    sinceMs: since === null ? null : Date.parse(since),
    untilMs: until === null ? null : Date.parse(until),
    // Whole seconds, like the times of a rule.
    baseMs: Math.floor(Date.parse(created_at) / 1000) * 1000,
  };
}

/** Returns whether it is too late to start an occurrence. */
function hasSlipped(schedule: Pick<ScheduleRow, 'slip_minutes'>, atMs: number, nowMs: number): boolean {
  return nowMs - atMs > schedule.slip_minutes * 60_000 + GRACE_MS;
}

/** Returns the reason why an occurrence that was decided as `due` may not start any more; null when it may start. */
export function notStartedReason(
  schedule: Pick<ScheduleRow, 'slip_minutes' | 'enabled'>,
  atMs: number,
  nowMs: number,
): string | null {
  if (!schedule.enabled) return 'the schedule was disabled before it could be started';
  return hasSlipped(schedule, atMs, nowMs)
    ? `it could not be started in time (slip: ${schedule.slip_minutes} minutes)`
    : null;
}

/**
 * Decides every occurrence from `next_occurrence` up to now, at most MAX_DECISIONS (reference/rest-api.md 6.8). At most one
 * becomes `due`, because the others would find it running. A clock set forward produces skipped occurrences; a clock set back
 * decides no occurrence twice.
 */
export function decideOccurrences(
  schedule: Pick<ScheduleRow, 'next_occurrence' | 'slip_minutes' | 'stop_on_fail'>,
  times: Occurrences,
  previous: PreviousRun,
  nowMs: number,
): { decisions: OccurrenceDecision[]; nextMs: number | null; isStopped: boolean } {
  const decisions: OccurrenceDecision[] = [];
  const isStopped = schedule.stop_on_fail && previous === 'failed';
  let isRunning = previous === 'running';
  let atMs = schedule.next_occurrence === null ? null : Date.parse(schedule.next_occurrence);
  while (atMs !== null && atMs <= nowMs && decisions.length < MAX_DECISIONS) {
    const reason = isStopped
      ? 'the run before failed and stop_on_fail is set'
      : hasSlipped(schedule, atMs, nowMs)
        ? `its time passed more than ${schedule.slip_minutes} minutes ago`
        : isRunning
          ? 'the run before has not ended'
          : null;
    decisions.push({ atMs, outcome: reason === null ? 'due' : 'skipped', reason });
    if (reason === null) isRunning = true;
    atMs = times.next(atMs);
  }
  return { decisions, nextMs: atMs, isStopped: isStopped && decisions.length > 0 };
}
