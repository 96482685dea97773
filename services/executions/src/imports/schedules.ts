import { type Item, recordReader } from '@baton/cloudify-archive';
import {
  type ImportContext,
  type Judgement,
  ownerOf,
  type ReadRecord,
  recordImporter,
  visibilityOf,
} from '@baton/import-part';
import { isUuid, newId } from '@baton/kernel';
import type { ScheduleRule } from '../schedules/domain/recurrence';
import { nextOccurrence, scheduleTimes } from '../schedules/domain/schedule';
import { argumentsOf } from '../schedules/domain/schedule-input';

type Schedule = Item<'execution_schedules'>;
type Schedules = readonly ReadRecord<Schedule>[];

/** Schedules of deployments. None fires before its deployment is activated. */
export const schedules = recordImporter<Schedule>({
  type: 'execution_schedules',
  read: recordReader('execution_schedules'),
  idOf: ({ deployment_id: deployment, id }) => `${deployment ?? ''}/${id}`,
  judge: async (_context, records) => judgeRules(records),
  async met({ client, tenant }, records) {
    const { rows } = await client.query<{ place: string; met: string }>(
      `select s.deployment_id || '/' || s.id as place, md5(s::text) as met from execution_schedules s
       join unnest($2::text[], $3::text[]) r (deployment, id) on s.deployment_id = r.deployment and s.id = r.id where s.tenant = $1`,
      [tenant, records.map(({ item }) => item.deployment_id), records.map(({ item }) => item.id)],
    );
    return new Map(rows.map(({ place, met }) => [place, met]));
  },
  write: insertSchedules,
});

/** Rule of a record; null: it has no form that schedules here have. */
function ruleOf({ rule }: Schedule): ScheduleRule | null {
  const { recurrence = null, count = null, weekdays = null, rrule } = rule;
  if (typeof rrule === 'string') return { rrule };
  const isText = recurrence === null || typeof recurrence === 'string';
  const isCount = count === null || (typeof count === 'number' && Number.isSafeInteger(count) && count > 0);
  const isDays =
    weekdays === null || (Array.isArray(weekdays) && weekdays.every((day) => typeof day === 'string'));
  if (!isText || !isCount || !isDays) return null;
  return { recurrence, count, weekdays: weekdays as string[] | null };
}

function judgeRules(records: Schedules): Map<string, Judgement> {
  const judged = new Map<string, Judgement>();
  for (const { id, item } of records) {
    const lost = (code: string, text: string) => void judged.set(id, { fate: 'lost', code, text });
    const rule = ruleOf(item);
    if (item.deployment_id === null) lost('dangling', 'it names no deployment');
    else if (rule === null) lost('rule-unreadable', 'its rule has no form that is known');
    else
      try {
        scheduleTimes({ ...item, rule, created_at: item.created_at ?? new Date(0).toISOString() });
      } catch {
        lost('rule-unreadable', 'its rule means no time');
      }
  }
  return judged;
}

async function insertSchedules({ client, tenant, options }: ImportContext, records: Schedules) {
  const rows = records.map(({ item }) => ({
    key: newId(),
    deployment_id: item.deployment_id,
    id: item.id,
    workflow_id: item.workflow_id ?? '',
    parameters: item.parameters,
    execution_arguments: argumentsOf(knownArguments(item)),
    ...{ since: item.since, until: item.until, rule: ruleOf(item) },
    slip: Math.max(0, item.slip),
    stop_on_fail: item.stop_on_fail,
    was_enabled: item.enabled,
    fires: options.schedules === 'as_was' && item.enabled,
    latest:
      item.latest_execution_id !== null && isUuid(item.latest_execution_id) ? item.latest_execution_id : null,
    visibility: visibilityOf(item.visibility),
    created_by: ownerOf(item.created_by),
    created_at: item.created_at,
  }));
  await client.query(INSERT, [tenant, JSON.stringify(rows)]);
  return new Map(
    records.flatMap(({ id, item }) => {
      const text =
        options.schedules === 'as_was'
          ? 'it fires again when its deployment is activated'
          : 'it is disabled; an activation with schedules enables it';
      return item.enabled ? [[id, { code: 'disabled', text }] as const] : [];
    }),
  );
}

/** Arguments of a record as far as they have the right types. */
function knownArguments({ execution_arguments: given }: Schedule) {
  const flag = (name: string) => (typeof given[name] === 'boolean' ? { [name]: given[name] } : {});
  const wait = given.wait_after_fail;
  return {
    ...flag('allow_custom_parameters'),
    ...flag('force'),
    ...flag('is_dry_run'),
    ...flag('dry_run'),
    ...(typeof wait === 'number' && Number.isSafeInteger(wait) && wait >= 0 ? { wait_after_fail: wait } : {}),
  };
}

const INSERT = `insert into execution_schedules (key, tenant, deployment_id, id, workflow_id, parameters, execution_arguments, since,
    until, rule, slip_minutes, stop_on_fail, enabled, was_enabled, fires_when_activated, next_occurrence, latest_execution_id,
    visibility, created_by, created_at)
  select s.key, $1, s.deployment_id, s.id, s.workflow_id, s.parameters, s.execution_arguments, s.since, s.until, s.rule, s.slip,
    s.stop_on_fail, false, s.was_enabled, s.fires, null, (select e.id from executions e where e.id = s.latest and e.tenant = $1),
    s.visibility, s.created_by, coalesce(s.created_at, app_now())
  from jsonb_to_recordset($2::jsonb) as s(key uuid, deployment_id text, id text, workflow_id text, parameters jsonb,
    execution_arguments jsonb, since timestamptz, until timestamptz, rule jsonb, slip integer, stop_on_fail boolean,
    was_enabled boolean, fires boolean, latest uuid, visibility text, created_by text, created_at timestamptz)
  on conflict (tenant, deployment_id, id) do update set workflow_id = excluded.workflow_id, parameters = excluded.parameters,
    execution_arguments = excluded.execution_arguments, since = excluded.since, until = excluded.until, rule = excluded.rule,
    slip_minutes = excluded.slip_minutes, stop_on_fail = excluded.stop_on_fail, enabled = false,
    was_enabled = excluded.was_enabled, fires_when_activated = excluded.fires_when_activated, next_occurrence = null,
    latest_execution_id = excluded.latest_execution_id, visibility = excluded.visibility, created_by = excluded.created_by,
    created_at = excluded.created_at`;

interface Waiting {
  key: string;
  rule: ScheduleRule;
  since: string | null;
  until: string | null;
  created_at: string;
  now_ms: number;
}

/**
 * Enables the imported schedules of activated deployments that were enabled in the archive: those for which it was asked at the import,
 * and with `withSchedules` all of them. Returns their number. What fell due meanwhile is not made up for.
 */
export async function activateSchedules(
  client: ImportContext['client'],
  {
    tenant,
    deploymentIds,
    withSchedules,
  }: { tenant: string; deploymentIds: readonly string[]; withSchedules: boolean },
): Promise<number> {
  const { rows } = await client.query<Waiting>(
    `select key, rule, since, until, created_at, (extract(epoch from app_now()) * 1000)::bigint as now_ms from execution_schedules
     where tenant = $1 and ($2::text[] = '{}' or deployment_id = any($2::text[])) and not enabled and was_enabled
       and (fires_when_activated or $3) order by key for update`,
    [tenant, deploymentIds, withSchedules],
  );
  const next = rows.map((row) => ({ key: row.key, next: nextOccurrence(row, row.now_ms) }));
  await client.query(
    `update execution_schedules s set enabled = true, was_enabled = null, fires_when_activated = false, next_occurrence = n.next
     from json_to_recordset($1::json) as n(key uuid, next timestamptz) where s.key = n.key`,
    [JSON.stringify(next)],
  );
  return rows.length;
}
