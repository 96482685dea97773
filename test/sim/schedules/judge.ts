import { GRACE_MS } from '../../../services/executions/src/schedules/domain/schedule';
import type { MemoryDatabase, MemoryExecution, MemoryOccurrence } from '../service/database';

/** A schedule of the simulation. Its times are computed here, independently of the code under test. */
export interface Planned {
  key: string;
  sinceMs: number;
  stepMs: number;
  count: number | null;
  /** True when the last change left no undecided past times: the schedule was disabled, or is deleted. */
  isWhole: boolean;
}

const requestIdOf = (key: string, occurrence: string): string => `schedule:${key}:${occurrence}`;

function timesOf({ sinceMs, stepMs, count }: Planned, untilMs: number): number[] {
  const times: number[] = [];
  for (let at = sinceMs; at <= untilMs && (count === null || times.length < count); at += stepMs)
    times.push(at);
  return times;
}

/** Checks that a schedule does not start an execution while its previous one has not ended. */
export function judgeStart(
  { executions }: MemoryDatabase,
  { row }: MemoryExecution,
  breaches: string[],
): void {
  const key = row.request_id.split(':')[1]!;
  for (const { row: other } of executions.values())
    if (other.id !== row.id && other.request_id.split(':')[1] === key && other.phase !== 'ended')
      breaches.push(`${row.request_id} was started beside ${other.request_id}, which is ${other.status}`);
}

/** Checks that a due time starts only while its schedule is enabled and within its slip, and is skipped only otherwise. */
export function judgeDecision(
  { schedules, nowMs }: MemoryDatabase,
  { key, occurrence, outcome, reason }: MemoryOccurrence,
  hasJumped: boolean,
  breaches: string[],
): void {
  const { enabled, slip_minutes: slip } = schedules.get(key)!;
  const say = (text: string) => void breaches.push(`schedule ${key}: ${occurrence} ${text}`);
  const lateMs = nowMs() - Date.parse(occurrence) - slip * 60_000 - GRACE_MS;
  if (outcome === 'fired' && !enabled) say('fired, and the schedule is disabled');
  if (outcome === 'fired' && !hasJumped && lateMs > COMMIT_MS) say(`fired ${lateMs} ms after its slip`);
  if (/^the schedule was disabled/.test(reason ?? '') && enabled)
    say(`was skipped (${reason}), and the schedule is enabled`);
}

/** Checks that each past time exists once: fired with exactly one execution, or skipped for a true reason (promise G8). */
export function judgeSchedules(
  database: MemoryDatabase,
  planned: readonly Planned[],
  { latestMs, hasJumped }: { latestMs: number; hasJumped: boolean },
  breaches: string[],
): void {
  const { executions, occurrences, schedules } = database;
  const byRequest = new Map<string, string[]>();
  for (const { row } of executions.values())
    byRequest.set(row.request_id, [...(byRequest.get(row.request_id) ?? []), row.id]);
  for (const one of planned) {
    const say = (text: string) => void breaches.push(`schedule ${one.key}: ${text}`);
    const nextMs = Date.parse(schedules.get(one.key)!.next_occurrence ?? '9999-01-01T00:00:00Z');
    const times = new Set(timesOf(one, latestMs));
    const own = [...occurrences.values()].filter(({ key }) => key === one.key);
    if (one.isWhole && nextMs <= database.nowMs() - LATE_MS) say('its next time passed, and nobody looks');
    for (const at of times)
      if (one.isWhole && at < Math.min(nextMs, database.nowMs() - LATE_MS) && !has(own, at))
        say(`${new Date(at).toISOString()} has neither fired nor was it skipped`);
    for (const { occurrence, outcome, reason, execution_id, decided_at } of own) {
      const started = byRequest.get(requestIdOf(one.key, occurrence)) ?? [];
      const at = Date.parse(occurrence);
      if (!times.has(at)) say(`${occurrence} is none of its times, or had not come`);
      if (outcome === 'due' && Date.parse(decided_at) < database.nowMs() - LATE_MS)
        say(`${occurrence} is due, and nobody starts it`);
      if (outcome === 'fired' && (started.length !== 1 || started[0] !== execution_id))
        say(`${occurrence} fired ${execution_id}, there are ${started.join() || 'none'}`);
      if (outcome !== 'fired' && started.length > 0)
        say(`${occurrence} is ${outcome} (${reason}), and started ${started.join()}`);
      // Between the check and the note the clock may have been set back.
      const isTooLate =
        !hasJumped && reason !== null && /^its time passed|^it could not be started in time/.test(reason);
      if (isTooLate && Date.parse(decided_at) - at <= GRACE_MS)
        say(`${occurrence} was given up ${Date.parse(decided_at) - at} ms after its time`);
    }
  }
}

/** Maximum time from reading the clock to the commit; an await may take seconds. */
const COMMIT_MS = 12_000;

/** A few ticks of the loop, without faults. */
const LATE_MS = 8_000;

const has = (own: readonly { occurrence: string }[], at: number): boolean =>
  own.some(({ occurrence }) => Date.parse(occurrence) === at);
