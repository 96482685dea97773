import { type Item, recordReader } from '@baton/cloudify-archive';
import { ownerOf, recordImporter, visibilityOf } from '@baton/import-part';
import { isUuid } from '@baton/kernel';

/** Execution groups with those of their members that are imported. Nothing of them is started. */
export const executionGroups = recordImporter<Item<'execution_groups'>>({
  type: 'execution_groups',
  read: recordReader('execution_groups'),
  idOf: ({ id }) => id,
  async met({ client, tenant }, records) {
    const { rows } = await client.query<{ id: string; met: string }>(
      'select id, md5(g::text) as met from execution_groups g where tenant = $1 and id = any($2::text[])',
      [tenant, records.map(({ id }) => id)],
    );
    return new Map(rows.map(({ id, met }) => [id, met]));
  },
  async write({ client, tenant }, records) {
    const rows = records.map(({ item }) => ({
      ...item,
      visibility: visibilityOf(item.visibility),
      created_by: ownerOf(item.created_by),
      workflow_id: item.workflow_id ?? '',
      concurrency: Math.max(0, item.concurrency),
    }));
    await client.query(INSERT, [tenant, JSON.stringify(rows)]);
    const members = records.flatMap(({ item }) =>
      item.execution_ids.filter(isUuid).map((execution) => ({ group: item.id, execution })),
    );
    const { rows: joined } = await client.query<{ group: string; execution: string }>(
      `update executions e set execution_group_id = m.group from json_to_recordset($2::json) as m("group" text, execution uuid)
       where e.id = m.execution and e.tenant = $1 and e.phase = 'ended' and e.execution_group_id is null
       returning m.group, m.execution`,
      [tenant, JSON.stringify(members)],
    );
    const counts = new Map<string, number>();
    for (const { group } of joined) counts.set(group, (counts.get(group) ?? 0) + 1);
    return new Map(
      records.flatMap(({ id, item }) => {
        const missing = item.execution_ids.length - (counts.get(id) ?? 0);
        if (missing === 0) return [];
        const text = `${missing} of its ${item.execution_ids.length} executions are not imported, or belong to another group`;
        return [[id, { code: 'members-missing', text }] as const];
      }),
    );
  },
});

const INSERT = `insert into execution_groups (tenant, id, deployment_group_id, workflow_id, concurrency, success_group_id,
    failure_group_id, visibility, created_by, created_at)
  select $1, g.id, g.deployment_group_id, g.workflow_id, g.concurrency, g.success_group_id, g.failure_group_id, g.visibility,
    g.created_by, coalesce(g.created_at, app_now())
  from json_to_recordset($2::json) as g(id text, deployment_group_id text, workflow_id text, concurrency integer,
    success_group_id text, failure_group_id text, visibility text, created_by text, created_at timestamptz)
  on conflict (tenant, id) do update set deployment_group_id = excluded.deployment_group_id,
    workflow_id = excluded.workflow_id, concurrency = excluded.concurrency, success_group_id = excluded.success_group_id,
    failure_group_id = excluded.failure_group_id, visibility = excluded.visibility, created_by = excluded.created_by,
    created_at = excluded.created_at`;
