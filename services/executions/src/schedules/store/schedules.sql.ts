import { type AnyQuery, jsonb, type Tx } from '@baton/postgres';
import { sql } from 'kysely';
import { type GoneDeployment, ofGone } from '../../store/gone-deployment.sql';
import { behind, type Place, type Placed, placedAt } from '../../store/round.sql';
import type { DB } from '../../store/tables.gen';
import type { OccurrenceDecision, PreviousRun, ScheduleRow } from '../domain/schedule';

/** Inserts a schedule; false when the deployment has a schedule with this id already. */
export async function insertSchedule(tx: Tx<DB>, row: ScheduleRow): Promise<boolean> {
  const { rows } = await sql`
    insert into execution_schedules (key, tenant, deployment_id, deployment_made_by, id, workflow_id, parameters, execution_arguments, since,
      until, rule, slip_minutes, stop_on_fail, enabled, next_occurrence, visibility, created_by, created_at)
    values (${row.key}, ${row.tenant}, ${row.deployment_id}, ${row.deployment_made_by}, ${row.id}, ${row.workflow_id},
      ${row.parameters === null ? null : jsonb(row.parameters)}, ${jsonb(row.execution_arguments)}, ${row.since},
      ${row.until}, ${jsonb(row.rule)}, ${row.slip_minutes}, ${row.stop_on_fail}, ${row.enabled}, ${row.next_occurrence},
      ${row.visibility}, ${row.created_by}, ${row.created_at})
    on conflict (tenant, deployment_id, id) do nothing returning 1`.execute(tx);
  return rows.length > 0;
}

/**
 * Deletes the schedule with this name when it belongs to an earlier deployment with the same id and was created before `at`
 * (ISO): the message about the deletion of that deployment may not have arrived yet.
 */
export async function deleteEarlierSchedule(
  tx: Tx<DB>,
  { tenant, deployment_id, deployment_made_by, id }: ScheduleRow,
  at: string,
): Promise<void> {
  await sql`
    delete from execution_schedules where tenant = ${tenant} and deployment_id = ${deployment_id} and id = ${id}
      and deployment_made_by <> ${deployment_made_by} and created_at < ${at}::timestamptz`.execute(tx);
}

/** Returns the key of the schedule with this name; null when the deployment has none. */
export async function storedScheduleKey(
  db: AnyQuery,
  { tenant, deployment_id, id }: Pick<ScheduleRow, 'tenant' | 'deployment_id' | 'id'>,
): Promise<string | null> {
  const { rows } = await sql<{ key: string }>`
    select key from execution_schedules
    where tenant = ${tenant} and deployment_id = ${deployment_id} and id = ${id}`.execute(db);
  return rows[0]?.key ?? null;
}

/** A schedule with the present time of the database and the end of its previous run. */
export type TimedSchedule = ScheduleRow & { now_ms: number; previous: PreviousRun };

const TIMED_SCHEDULE = sql`s.*, (extract(epoch from app_now()) * 1000)::bigint as now_ms,
  case when exists (select 1 from schedule_occurrences o where o.schedule_key = s.key and o.outcome = 'due') then 'running'
    else coalesce((select case when e.phase <> 'ended' then 'running' when e.status = 'failed' then 'failed' else 'ended' end
      from executions e where e.id = s.latest_execution_id), 'none') end as previous`;

export async function lockSchedule(tx: Tx<DB>, key: string): Promise<TimedSchedule | null> {
  const { rows } = await sql<TimedSchedule>`
    select ${TIMED_SCHEDULE} from execution_schedules s where s.key = ${key} for update of s`.execute(tx);
  return rows[0] ?? null;
}

/** Writes the times and the start request of a locked schedule. */
export async function rewriteSchedule(tx: Tx<DB>, row: ScheduleRow): Promise<void> {
  await sql`
    update execution_schedules set workflow_id = ${row.workflow_id}, since = ${row.since}, until = ${row.until},
      parameters = ${row.parameters === null ? null : jsonb(row.parameters)},
      execution_arguments = ${jsonb(row.execution_arguments)}, rule = ${jsonb(row.rule)},
      slip_minutes = ${row.slip_minutes}, stop_on_fail = ${row.stop_on_fail}, enabled = ${row.enabled},
      next_occurrence = ${row.next_occurrence}
    where key = ${row.key}`.execute(tx);
}

export async function deleteSchedule(tx: Tx<DB>, key: string): Promise<void> {
  await sql`delete from execution_schedules where key = ${key}`.execute(tx);
}

export async function deleteSchedulesOfDeployment(tx: Tx<DB>, gone: GoneDeployment): Promise<void> {
  await sql`delete from execution_schedules s where ${ofGone(gone, 's')}`.execute(tx);
}

/** Returns whether the tick has work; an idle tick runs only this statement. */
export async function hasScheduleWork(db: AnyQuery): Promise<boolean> {
  const { rows } = await sql<{ is_due: boolean }>`
    select exists (select 1 from execution_schedules where enabled and next_occurrence <= app_now())
      or exists (select 1 from schedule_occurrences where outcome = 'due') as is_due`.execute(db);
  return rows[0]!.is_due;
}

/** Returns the schedules whose time has come, locked; skips those that other transactions have locked. */
export async function lockDueSchedules(tx: Tx<DB>, limit: number): Promise<TimedSchedule[]> {
  const { rows } = await sql<TimedSchedule>`
    select ${TIMED_SCHEDULE} from execution_schedules s where s.enabled and s.next_occurrence <= app_now()
    order by s.next_occurrence limit ${limit} for update of s skip locked`.execute(tx);
  return rows;
}

/** Stores decisions; an occurrence that has a row already keeps it. */
export async function insertOccurrences(
  tx: Tx<DB>,
  scheduleKey: string,
  decisions: readonly OccurrenceDecision[],
): Promise<void> {
  const rows = decisions.map(({ atMs, outcome, reason }) => ({
    at: new Date(atMs).toISOString(),
    outcome,
    reason,
  }));
  await sql`
    insert into schedule_occurrences (schedule_key, occurrence, outcome, reason)
    select ${scheduleKey}::uuid, at, outcome, reason
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as d(at timestamptz, outcome text, reason text)
    on conflict do nothing`.execute(tx);
}

export async function advanceSchedule(
  tx: Tx<DB>,
  key: string,
  next: { nextMs: number | null; isStopped: boolean },
): Promise<void> {
  await sql`
    update execution_schedules set next_occurrence = ${next.nextMs === null ? null : new Date(next.nextMs).toISOString()},
      enabled = enabled and not ${next.isStopped}
    where key = ${key}`.execute(tx);
}

export type DueOccurrence = ScheduleRow & { occurrence: string; now_ms: number };

/** Returns the occurrences to start, with their schedules; each schedule has at most one due occurrence at a time. */
export async function dueOccurrences(
  db: AnyQuery,
  limit: number,
  place: Place | null,
): Promise<(Placed & { due: DueOccurrence })[]> {
  const { rows } = await sql<DueOccurrence & Placed>`
    select s.*, o.occurrence, (extract(epoch from app_now()) * 1000)::bigint as now_ms, ${placedAt(sql`o.decided_at`)}
    from schedule_occurrences o join execution_schedules s on s.key = o.schedule_key
    where o.outcome = 'due' and ${behind(place, sql`o.decided_at`, sql`o.schedule_key`)}
    order by o.decided_at, o.schedule_key limit ${limit}`.execute(db);
  // The id of a schedule is a name chosen by a user, so the round uses the key.
  return rows.map(({ at, now, ...due }) => ({ id: due.key, at, now, due: due as DueOccurrence }));
}

/**
 * Marks the occurrence as fired. The caller has locked the schedule, if it exists: first the schedule, then the occurrence, in
 * the same order as a delete. False when another replica decided the occurrence first, or the schedule was deleted.
 */
export async function markFired(
  tx: Tx<DB>,
  { key, occurrence }: Pick<DueOccurrence, 'key' | 'occurrence'>,
  executionId: string,
): Promise<boolean> {
  const { rows } = await sql`
    update schedule_occurrences set outcome = 'fired', execution_id = ${executionId}, decided_at = app_now()
    where schedule_key = ${key} and occurrence = ${occurrence} and outcome = 'due' returning 1`.execute(tx);
  if (rows.length === 0) return false;
  await sql`update execution_schedules set latest_execution_id = (select id from executions where id = ${executionId})
    where key = ${key}`.execute(tx);
  return true;
}

/** Marks the occurrence as not started: its start was refused, or came too late. */
export async function markNotFired(
  tx: Tx<DB>,
  { key, occurrence }: Pick<DueOccurrence, 'key' | 'occurrence'>,
  outcome: 'refused' | 'skipped',
  reason: string,
): Promise<void> {
  await sql`
    update schedule_occurrences set outcome = ${outcome}, reason = ${reason}, decided_at = app_now()
    where schedule_key = ${key} and occurrence = ${occurrence} and outcome = 'due'`.execute(tx);
}

/** Deletes old decided occurrences. @returns their number, at most `limit`. */
export async function purgeOccurrences(tx: Tx<DB>, olderThanDays: number, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from schedule_occurrences where (schedule_key, occurrence) in (
      select schedule_key, occurrence from schedule_occurrences
      where outcome <> 'due' and decided_at < app_now() - make_interval(days => ${olderThanDays}) limit ${limit})`.execute(
    tx,
  );
  return Number(numAffectedRows ?? 0);
}
