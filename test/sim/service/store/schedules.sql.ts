import { isoInstant } from '@baton/kernel';
import type { ScheduleRow } from '../../../../services/executions/src/schedules/domain/schedule';
import type * as real from '../../../../services/executions/src/schedules/store/schedules.sql';
import { holdNamed, lockRow, type MemoryOccurrence, type MemoryTx } from '../database';
import { batchOf, databaseOf, memoryTx, statement } from './access';

const lockOf = (key: string): string => `schedule ${key}`;
const occurrenceKey = (key: string, at: string): string => `${key} ${at}`;

function isDue(reader: object, { enabled, next_occurrence: next }: ScheduleRow): boolean {
  return enabled && next !== null && Date.parse(next) <= databaseOf(reader).nowMs();
}

const waiting = (reader: object): MemoryOccurrence[] =>
  [...databaseOf(reader).occurrences.values()].filter(({ outcome }) => outcome === 'due');

export const hasScheduleWork: typeof real.hasScheduleWork = async (db) => {
  await statement(db);
  return (
    waiting(db).length > 0 || [...databaseOf(db).schedules.values()].some((schedule) => isDue(db, schedule))
  );
};

function previousOf(reader: object, { key, latest_execution_id: latest }: ScheduleRow) {
  if (waiting(reader).some((one) => one.key === key)) return 'running';
  const row = databaseOf(reader).executions.get(latest ?? '')?.row;
  if (!row) return 'none';
  if (row.phase !== 'ended') return 'running';
  return row.status === 'failed' ? 'failed' : 'ended';
}

const timed = (tx: MemoryTx, schedule: ScheduleRow): real.TimedSchedule => ({
  ...schedule,
  now_ms: tx.database.nowMs(),
  previous: previousOf(tx, schedule),
});

/** Simulates FOR UPDATE SKIP LOCKED. */
async function mayLock(tx: MemoryTx, name: string): Promise<boolean> {
  if (tx.named.has(name)) return true;
  if (tx.database.locks.has(name)) return false;
  tx.named.set(name, await lockRow(tx.database, name));
  return true;
}

export const lockDueSchedules: typeof real.lockDueSchedules = async (handle, limit) => {
  const tx = memoryTx(handle);
  await statement(tx);
  const due = [...tx.database.schedules.values()]
    .filter((schedule) => isDue(tx, schedule))
    .sort((a, b) => (a.next_occurrence! < b.next_occurrence! ? -1 : 1));
  const locked: real.TimedSchedule[] = [];
  for (const schedule of due) {
    if (locked.length === limit || !(await mayLock(tx, lockOf(schedule.key)))) continue;
    locked.push(timed(tx, schedule));
  }
  return locked;
};

export const insertOccurrences: typeof real.insertOccurrences = async (handle, key, decisions) => {
  const tx = memoryTx(handle);
  await statement(tx);
  const { occurrences } = tx.database;
  const decided_at = isoInstant(tx.database.nowMs());
  tx.others.push(() => {
    for (const { atMs, outcome, reason } of decisions) {
      const occurrence = isoInstant(atMs);
      const name = occurrenceKey(key, occurrence);
      if (!occurrences.has(name))
        occurrences.set(name, { key, occurrence, outcome, reason, execution_id: null, decided_at });
    }
  });
};

function rewrite(tx: MemoryTx, key: string, edit: Partial<ScheduleRow>): void {
  const { schedules } = tx.database;
  tx.others.push(() => {
    const schedule = schedules.get(key);
    if (schedule) schedules.set(key, { ...schedule, ...edit });
  });
}

export const advanceSchedule: typeof real.advanceSchedule = async (handle, key, { nextMs, isStopped }) => {
  const tx = memoryTx(handle);
  await statement(tx);
  const next_occurrence = nextMs === null ? null : isoInstant(nextMs);
  rewrite(tx, key, { next_occurrence, ...(isStopped ? { enabled: false } : {}) });
};

export const dueOccurrences: typeof real.dueOccurrences = async (db, limit, place) => {
  await statement(db);
  const { schedules, nowMs } = databaseOf(db);
  const due = waiting(db).flatMap(({ key, occurrence, decided_at: at }) => {
    const schedule = schedules.get(key);
    return schedule ? [{ id: key, at, due: { ...schedule, occurrence, now_ms: nowMs() } }] : [];
  });
  return batchOf(db, due, limit, place);
};

/** Locks the row and returns it as it is then, if it is still due. */
async function lockDue(tx: MemoryTx, key: string, occurrence: string): Promise<MemoryOccurrence | null> {
  const name = occurrenceKey(key, occurrence);
  await holdNamed(tx, `occurrence ${name}`);
  const found = tx.database.occurrences.get(name);
  return found?.outcome === 'due' ? found : null;
}

function decide(tx: MemoryTx, found: MemoryOccurrence, edit: Partial<MemoryOccurrence>): void {
  const { occurrences, nowMs, onDecided } = tx.database;
  const decided_at = isoInstant(nowMs());
  const name = occurrenceKey(found.key, found.occurrence);
  tx.others.push(() => {
    const decided = { ...found, ...edit, decided_at };
    occurrences.set(name, decided);
    onDecided?.(decided);
  });
}

export const markFired: typeof real.markFired = async (handle, { key, occurrence }, executionId) => {
  const tx = memoryTx(handle);
  const found = await lockDue(tx, key, occurrence);
  if (!found) return false;
  decide(tx, found, { outcome: 'fired', execution_id: executionId });
  rewrite(tx, key, { latest_execution_id: executionId });
  return true;
};

export const markNotFired: typeof real.markNotFired = async (
  handle,
  { key, occurrence },
  outcome,
  reason,
) => {
  const tx = memoryTx(handle);
  const found = await lockDue(tx, key, occurrence);
  if (found) decide(tx, found, { outcome, reason });
};

export const lockSchedule: typeof real.lockSchedule = async (handle, key) => {
  const tx = memoryTx(handle);
  await holdNamed(tx, lockOf(key));
  const schedule = tx.database.schedules.get(key);
  return schedule ? timed(tx, schedule) : null;
};

export const rewriteSchedule: typeof real.rewriteSchedule = async (handle, row) => {
  const tx = memoryTx(handle);
  await statement(tx);
  const { workflow_id, since, until, rule, slip_minutes, stop_on_fail, enabled, next_occurrence } = row;
  rewrite(tx, row.key, {
    ...{ workflow_id, since, until, rule, slip_minutes, stop_on_fail, enabled, next_occurrence },
  });
};

const notUsed = (): never => {
  throw new Error('the simulation does not serve this statement');
};
export const insertSchedule = notUsed;
export const storedScheduleKey = notUsed;
export const purgeOccurrences = notUsed;
