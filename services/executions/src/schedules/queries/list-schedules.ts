import type { ListPage, ListQuery, Principal } from '@baton/contracts';
import { scheduleSummaryFields } from '@baton/contracts/http/execution-schedules';
import { notFound } from '@baton/kernel';
import {
  type AnyQuery,
  isPrivate,
  selectFields,
  selectPage,
  summarizeBy,
  visibilityScope,
} from '@baton/postgres';
import { type RawBuilder, sql } from 'kysely';
import { readNowMs } from '../../store/clock.sql';
import { plainTime } from '../domain/present-schedule';
import { type ScheduleRow, scheduleTimes } from '../domain/schedule';

const plain = (name: string) => sql`s.${sql.id(name)}`;

const COLUMNS: Record<string, RawBuilder<unknown>> = {
  id: plain('id'),
  deployment_id: plain('deployment_id'),
  workflow_id: plain('workflow_id'),
  parameters: plain('parameters'),
  execution_arguments: plain('execution_arguments'),
  since: plain('since'),
  until: plain('until'),
  rule: plain('rule'),
  slip: plain('slip_minutes'),
  stop_on_fail: plain('stop_on_fail'),
  enabled: plain('enabled'),
  next_occurrence: plain('next_occurrence'),
  latest_execution: plain('latest_execution_id'),
  latest_execution_status: sql`(select e.status from executions e where e.id = s.latest_execution_id)`,
  // By an index of those that did not run (migrations/0250_missed_occurrences.sql).
  latest_skip: sql`(select json_build_object('outcome', o.outcome, 'reason', o.reason,
      'occurrence', to_char(o.occurrence at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    from schedule_occurrences o where o.schedule_key = s.key and o.outcome in ('refused', 'skipped')
    order by o.occurrence desc limit 1)`,
  created_at: plain('created_at'),
  created_by: plain('created_by'),
  tenant_name: plain('tenant'),
  visibility: plain('visibility'),
  private_resource: isPrivate('s'),
  resource_availability: plain('visibility'),
};
/**
 * SQL for `single` or `recurring`. A schedule with an rrule is single only when the rule has COUNT=1 and no RDATE is given beside
 * it.
 */
const RECURRING = sql`case
  when s.rule->>'rrule' ~* '\\mCOUNT=1\\M' and s.rule->>'rrule' !~* 'RDATE' then 'single'
  when s.rule ? 'rrule' or (s.rule->>'recurrence' is not null and coalesce(s.rule->>'count', '') <> '1') then 'recurring'
  else 'single' end`;

/** The most occurrences shown of one schedule, and of all schedules of a page together, so that a page of hundreds stays cheap. */
const MAX_SHOWN = 1_000;
const MAX_SHOWN_OF_PAGE = 20_000;
const MIN_SHOWN = 10;

const scope = (principal: Principal, allTenants: boolean) => visibilityScope(principal, 's', allTenants);

type Item = Record<string, unknown>;
type Times = Pick<ScheduleRow, 'rule' | 'since' | 'until' | 'created_at'>;

/** Returns one page of schedules. */
export async function listSchedules(
  db: AnyQuery,
  principal: Principal,
  list: ListQuery,
): Promise<ListPage<Item>> {
  const isTimesWanted = list.include === null || list.include.includes('all_next_occurrences');
  const page = await selectPage<Item>({
    db,
    from: sql`execution_schedules s`,
    columns: COLUMNS,
    list,
    where: [scope(principal, list.allTenants)],
    search: plain('id'),
    always: isTimesWanted ? ['rule', 'since', 'until', 'created_at'] : [],
    tieBreak: sql`s.created_at, s.key`,
  });
  if (!isTimesWanted) return page;
  const nowMs = await readNowMs(db);
  const limit = Math.max(
    MIN_SHOWN,
    Math.min(MAX_SHOWN, Math.floor(MAX_SHOWN_OF_PAGE / Math.max(1, page.items.length))),
  );
  const items: Item[] = [];
  for (const item of page.items) {
    items.push(
      cut({ ...item, all_next_occurrences: upcoming(item as unknown as Times, nowMs, limit) }, list.include),
    );
    // Long rules cost milliseconds each: other requests are served in between.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { ...page, items };
}

function upcoming(schedule: Times, nowMs: number, limit: number): string[] {
  return scheduleTimes(schedule).upcoming(nowMs, limit).map(plainTime);
}

function cut(item: Item, include: string[] | null): Item {
  return include === null ? item : Object.fromEntries(include.map((field) => [field, item[field]]));
}

/** Returns the key of a schedule that the caller may see. @throws AppError not_found_error */
export async function scheduleKey(
  db: AnyQuery,
  principal: Principal,
  place: { deploymentId: string; id: string },
): Promise<string> {
  const { rows } = await sql<{ key: string }>`
    select s.key from execution_schedules s
    where s.deployment_id = ${place.deploymentId} and s.id = ${place.id} and ${scope(principal, false)}`.execute(
    db,
  );
  if (!rows[0]) throw notFound('ExecutionSchedule', place.id);
  return rows[0].key;
}

/** Returns a schedule with its future times. @throws AppError not_found_error */
export async function readSchedule(
  db: AnyQuery,
  principal: Principal,
  place: { deploymentId: string; id: string },
): Promise<Item> {
  const key = await scheduleKey(db, principal, place);
  const fields = selectFields(COLUMNS);
  const { rows } = await sql<Item>`select ${fields} from execution_schedules s where s.key = ${key}`.execute(
    db,
  );
  if (!rows[0]) throw notFound('ExecutionSchedule', place.id);
  const nowMs = await readNowMs(db);
  return { ...rows[0], all_next_occurrences: upcoming(rows[0] as unknown as Times, nowMs, MAX_SHOWN) };
}

/** Returns past occurrences with their outcomes, newest first. */
export async function listOccurrences(db: AnyQuery, key: string): Promise<Item[]> {
  const { rows } = await sql<Item>`
    select occurrence, outcome, reason, execution_id, decided_at from schedule_occurrences
    where schedule_key = ${key} order by occurrence desc limit ${MAX_SHOWN}`.execute(db);
  return rows;
}

/** Returns counts of the schedules that the list shows (reference/rest-api.md 5.27). @throws AppError bad_parameters_error */
export async function summarizeSchedules(
  db: AnyQuery,
  principal: Principal,
  list: ListQuery,
  query: { _target_field?: string; _sub_field?: string },
): Promise<ListPage<object>> {
  const isSub = query._target_field !== 'recurring' && query._target_field !== 'recurrence';
  const kind = {
    name: 'execution_schedules',
    fields: isSub ? [...scheduleSummaryFields, 'recurring', 'recurrence'] : scheduleSummaryFields,
    from: sql`execution_schedules s`,
    columns: { ...COLUMNS, recurring: RECURRING, recurrence: RECURRING },
    search: plain('id'),
    where: [scope(principal, list.allTenants)],
  };
  return await summarizeBy(db, kind, list, query);
}
