import { maxSlipMinutes } from '@baton/contracts/http/execution-schedules';
import {
  badParameter,
  isJsonObject,
  isoInstant,
  isStorableInstant,
  type Json,
  type JsonObject,
  newId,
  readInstant,
} from '@baton/kernel';
import { inbox, type Tx } from '@baton/postgres';
import type { Ports } from '../../ports';
import { readNowMs } from '../../store/clock.sql';
import type { DB } from '../../store/tables.gen';
import { relativeTimeMs } from '../domain/relative-time';
import { nextOccurrence, type ScheduleRow } from '../domain/schedule';
import { argumentsOf, ruleOf, specReading } from '../domain/schedule-input';
import {
  deleteEarlierSchedule,
  insertSchedule,
  rewriteSchedule,
  storedScheduleKey,
} from '../store/schedules.sql';
import { lockDecided } from './fire-schedules';

/** Fields that the schedules of a new deployment take from it. */
export interface ScheduleOwner {
  tenant: string;
  deploymentId: string;
  /** The execution that created the deployment; null: not known. */
  madeBy: string | null;
  visibility: string;
  createdBy: string;
}

/**
 * Creates the schedules of `deployment_settings.default_schedules` (reference/dsl.md 2.13), once per message: a schedule that the
 * user deletes does not come back. A broken entry is skipped and logged, because the deployment exists already.
 */
export async function makeDefaultSchedules(
  deps: Pick<Ports, 'db' | 'log'>,
  owner: ScheduleOwner,
  message: { id: string; time: string },
  defaults: Record<string, unknown>,
): Promise<void> {
  await deps.db.tx(async (tx) => {
    if (!(await inbox.once(tx, 'default-schedules', message.id))) return;
    await storeDefaults(tx, deps, { owner, defaults }, async (row) => {
      await deleteEarlierSchedule(tx, row, message.time);
      await insertSchedule(tx, row);
    });
  });
}

/**
 * Creates the default schedules of an updated deployment, or changes those with the same names; others stay
 * (reference/workflows.md 1.13). Part of the stage that ends the update, which is carried out once. A broken entry is skipped and
 * logged.
 */
export async function updateDefaultSchedules(
  tx: Tx<DB>,
  deps: Pick<Ports, 'log'>,
  owner: ScheduleOwner,
  defaults: Record<string, unknown>,
): Promise<void> {
  await storeDefaults(tx, deps, { owner, defaults }, async (row) => {
    await deleteEarlierSchedule(tx, row, row.created_at);
    if (!(await insertSchedule(tx, row))) await replaceSchedule(tx, deps, row);
  });
}

/** Rewrites the schedule of this name by the blueprint; past occurrences are decided by the old schedule first. */
async function replaceSchedule(tx: Tx<DB>, deps: Pick<Ports, 'log'>, row: ScheduleRow): Promise<void> {
  const key = await storedScheduleKey(tx, row);
  const stored = key === null ? null : await lockDecided(deps, tx, key);
  if (!stored) return;
  // Without a `since`, its times still count from its creation.
  const changed = { ...row, key: stored.key, created_at: stored.created_at };
  await rewriteSchedule(tx, { ...changed, next_occurrence: nextOccurrence(changed, stored.now_ms) });
}

/** Stores each valid entry; a broken entry is skipped and logged. */
async function storeDefaults(
  tx: Tx<DB>,
  { log }: Pick<Ports, 'log'>,
  { owner, defaults }: { owner: ScheduleOwner; defaults: Record<string, unknown> },
  store: (row: ScheduleRow) => Promise<unknown>,
): Promise<void> {
  const nowMs = await readNowMs(tx);
  for (const [id, entry] of Object.entries(defaults)) {
    const row = validRow(log, owner, id, entry as Json, nowMs);
    if (row) await store(row);
  }
}

/** Returns the row of an entry; null when the entry is broken in any way: an author may write anything into a blueprint. */
function validRow(
  log: Ports['log'],
  owner: ScheduleOwner,
  id: string,
  entry: Json,
  nowMs: number,
): ScheduleRow | null {
  try {
    return rowOf(owner, id, entry, nowMs);
  } catch (err) {
    log.warn({ err, scheduleId: id, deploymentId: owner.deploymentId }, 'a default schedule is not valid');
    return null;
  }
}

function rowOf(owner: ScheduleOwner, id: string, given: Json, nowMs: number): ScheduleRow {
  const entry = isJsonObject(given) ? given : {};
  const timing = {
    since: timeOf('since', entry.since, nowMs),
    until: timeOf('until', entry.until, nowMs),
    rule: ruleOf(entry as Parameters<typeof ruleOf>[0], specReading),
    created_at: new Date(nowMs).toISOString(),
  };
  return {
    ...timing,
    key: newId(),
    tenant: owner.tenant,
    deployment_id: owner.deploymentId,
    deployment_made_by: owner.madeBy,
    id,
    workflow_id: String(entry.workflow ?? ''),
    parameters: isJsonObject(entry.workflow_parameters ?? null)
      ? (entry.workflow_parameters as JsonObject)
      : null,
    execution_arguments: argumentsOf(entry.execution_arguments as Parameters<typeof argumentsOf>[0]),
    slip_minutes:
      typeof entry.slip === 'number' ? Math.min(maxSlipMinutes, Math.max(0, Math.floor(entry.slip))) : 0,
    stop_on_fail: entry.stop_on_fail === true || entry.stop_after_fail === true,
    enabled: entry.default_enabled !== false,
    next_occurrence: nextOccurrence(timing, nowMs),
    latest_execution_id: null,
    visibility: owner.visibility,
    created_by: owner.createdBy,
  };
}

function timeOf(field: string, value: Json | undefined, nowMs: number): string | null {
  if (typeof value !== 'string') return null;
  const relative = relativeTimeMs(value, nowMs);
  if (relative === null) return readInstant(field, value);
  if (isStorableInstant(relative)) return isoInstant(relative);
  throw badParameter(field, `${field}: \`${value}\` is too far away`, {
    expected: 'a time before the year 10000',
  });
}
