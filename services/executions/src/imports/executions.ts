import { type Item, recordReader } from '@baton/cloudify-archive';
import {
  type ImportContext,
  type Judgement,
  member,
  ownerOf,
  type ReadRecord,
  recordImporter,
  visibilityOf,
  withLines,
} from '@baton/import-part';
import { isUuid, newId } from '@baton/kernel';
import { importedRequestId } from '../executions/domain/imported';
import { hashToken } from '../executions/domain/token';
import { judgeId, takenExecutions } from './records';

type Executions = readonly ReadRecord<Item<'executions'>>[];

/** Executions, all of them ended: nobody carries on here what another manager was doing. */
export const executions = recordImporter<Item<'executions'>>({
  type: 'executions',
  read: recordReader('executions'),
  idOf: ({ id }) => id.toLowerCase(),
  judge,
  async met({ client, tenant }, records) {
    const { rows } = await client.query<{ id: string; met: string }>(
      'select id, md5(e::text) as met from executions e where tenant = $1 and id = any($2::uuid[])',
      [tenant, uuids(records)],
    );
    return new Map(rows.map(({ id, met }) => [id, met]));
  },
  async remove({ client }, records) {
    await client.query(
      'with gone as (delete from executions where id = any($1::uuid[]) returning id) delete from events where execution_id in (select id from gone)',
      [uuids(records)],
    );
  },
  write,
  decided(context, { id }, fate) {
    takenExecutions(context).set(id, {
      fate,
      lastSeq: fate === 'same' ? null : 0,
      ...{ hasEvents: false, lastAt: '', isUnordered: false },
    });
  },
});

const uuids = (records: Executions): string[] => records.map(({ id }) => id).filter(isUuid);

/** Ids are unique over all tenants; an execution at work is not replaced. */
async function judge(
  { client, tenant }: ImportContext,
  records: Executions,
): Promise<Map<string, Judgement>> {
  const judged = new Map<string, Judgement>();
  for (const { id } of records) {
    const judgement = judgeId(id);
    if (judgement) judged.set(id, judgement);
  }
  const { rows } = await client.query<{ id: string; is_foreign: boolean }>(
    `select id, tenant <> $1 as is_foreign from executions where id = any($2::uuid[]) and (tenant <> $1 or phase <> 'ended')`,
    [tenant, uuids(records)],
  );
  for (const { id, is_foreign: isForeign } of rows)
    judged.set(
      id,
      isForeign
        ? { fate: 'lost', code: 'foreign-execution', text: 'another tenant has an execution of this id' }
        : { fate: 'skipped', code: 'at-work', text: 'the execution here has not ended' },
    );
  return judged;
}

const ENDED = new Set(['terminated', 'failed', 'cancelled']);

async function write(context: ImportContext, records: Executions) {
  const remarks = new Map<string, { code: string; text: string }>();
  const text = withLines(records, (item, { id }) => {
    const isEnded = ENDED.has(item.status);
    if (!isEnded)
      remarks.set(id, {
        code: 'cancelled',
        text: `it was ${item.status.slice(0, 40)} when the archive was made, and is cancelled here`,
      });
    const status = isEnded ? item.status : 'cancelled';
    const error = isEnded ? item.error : endOf(item.status);
    return {
      id,
      request_id: importedRequestId(context.importId, id),
      workflow_id: item.workflow_id ?? '',
      deployment_id: item.deployment_id,
      blueprint_id: item.blueprint_id,
      visibility: visibilityOf(item.visibility),
      created_by: ownerOf(item.created_by),
      created_at: item.created_at,
      started_at: item.started_at,
      ended_at: item.ended_at ?? item.started_at ?? item.created_at,
      scheduled_for: item.scheduled_for,
      status,
      error,
      outcome: { status, error },
      is_system_workflow: item.is_system_workflow,
      is_dry_run: item.is_dry_run,
      allow_custom_parameters: item.allow_custom_parameters ?? false,
      is_resumed: item.resume,
      total: item.total_operations ?? 0,
      finished: item.finished_operations ?? 0,
      // Of a token that nobody has.
      token: hashToken(newId()),
    };
  });
  await context.client.query(INSERT, [context.tenant, text]);
  return remarks;
}

const endOf = (status: string): string =>
  `Cancelled by the import: another manager had it as ${status.slice(0, 40)} when the archive was made`;

const INSERT = `insert into executions (tenant, id, request_id, payload_hash, workflow_id, deployment_id, deployment_display_name,
    blueprint_id, visibility, created_by, created_at, started_at, ended_at, scheduled_for, status, phase, error, outcome, parameters,
    is_system_workflow, is_dry_run, is_resumed, allow_custom_parameters, total_operations, finished_operations, token_hash, version)
  select $1, c.id, c.request_id, 'import', c.workflow_id, c.deployment_id, c.deployment_id, c.blueprint_id, c.visibility, c.created_by,
    coalesce(c.created_at, app_now()), c.started_at, coalesce(c.ended_at, app_now()), c.scheduled_for, c.status, 'ended', c.error,
    c.outcome, coalesce(${member('parameters')}::text::jsonb, '{}'), c.is_system_workflow, c.is_dry_run, c.is_resumed,
    c.allow_custom_parameters, c.total, c.finished, c.token, 1
  from json_array_elements($2::json) x cross join lateral json_to_record(x->'c') as c(id uuid, request_id text, workflow_id text,
    deployment_id text, blueprint_id text, visibility text, created_by text, created_at timestamptz, started_at timestamptz,
    ended_at timestamptz, scheduled_for timestamptz, status text, error text, outcome jsonb, is_system_workflow boolean,
    is_dry_run boolean, allow_custom_parameters boolean, is_resumed boolean, total integer, finished integer, token text)`;
