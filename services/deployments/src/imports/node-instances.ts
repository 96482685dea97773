import { type Item, recordReader } from '@baton/cloudify-archive';
import {
  type ImportContext,
  type Judgement,
  type ReadRecord,
  recordImporter,
  withLines,
} from '@baton/import-part';
import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import { privateCreatorText } from '@baton/postgres';
import { withoutCredentials } from './agent-properties';
import { judgeByDeployment, keyOf } from './records';

type Instances = readonly ReadRecord<Item<'node_instances'>>[];

/** Node instances with everything that operations have left on them. */
export const nodeInstances = recordImporter<Item<'node_instances'>>({
  type: 'node_instances',
  read: recordReader('node_instances'),
  idOf: ({ id }) => id,
  judge,
  async met({ client, tenant }, records) {
    const { rows } = await client.query<{ id: string; met: string }>(
      'select id, md5(i::text) as met from node_instances i where tenant = $1 and id = any($2::text[])',
      [tenant, records.map(({ id }) => id)],
    );
    return new Map(rows.map(({ id, met }) => [id, met]));
  },
  write,
});

/** An instance needs its deployment and node, and its id must not be that of an instance of another deployment. */
async function judge(context: ImportContext, records: Instances): Promise<Map<string, Judgement>> {
  const judged = new Map<string, Judgement>();
  const asked: Instances[number][] = [];
  for (const record of records) {
    const judgement = judgeByDeployment(context, record.item.deployment_id);
    if (judgement) judged.set(record.id, judgement);
    else if (!record.item.relationships.every(isRelationship)) judged.set(record.id, BROKEN_RELATIONSHIP);
    else asked.push(record);
  }
  const { rows } = await context.client.query<{ id: string; has_node: boolean; is_foreign: boolean }>(
    `select r.id, exists (select 1 from nodes n where n.deployment_key = r.key and n.id = r.node) as has_node,
       exists (select 1 from node_instances i where i.tenant = $1 and i.id = r.id and i.deployment_key <> r.key) as is_foreign
     from unnest($2::text[], $3::bigint[], $4::text[]) r (id, key, node)`,
    [
      context.tenant,
      asked.map(({ id }) => id),
      asked.map(({ item }) => keyOf(context, item.deployment_id)),
      asked.map(({ item }) => item.node_id),
    ],
  );
  for (const { id, has_node: hasNode, is_foreign: isForeign } of rows)
    if (isForeign)
      judged.set(id, {
        fate: 'lost',
        code: 'foreign-instance',
        text: 'another deployment of the tenant has an instance of this id',
      });
    else if (!hasNode) judged.set(id, { fate: 'lost', code: 'dangling', text: 'its node is not imported' });
  return judged;
}

const isRelationship = (value: unknown): boolean =>
  isJsonObject(value as Json) &&
  ['type', 'target_name', 'target_id'].every((name) => typeof (value as JsonObject)[name] === 'string');
const BROKEN_RELATIONSHIP: Judgement = {
  fate: 'lost',
  code: 'invalid',
  text: 'relationships is a list that does not fit; expected type, target_name and target_id of each',
};

async function write(context: ImportContext, records: Instances) {
  const remarks = new Map<string, { code: string; text: string }>();
  const text = withLines(records, (item) => {
    const clean = withoutCredentials(item.runtime_properties as JsonObject);
    if (clean)
      remarks.set(item.id, {
        code: 'agent-credentials',
        text: `left out of its runtime properties: ${clean.stripped.slice(0, 20).join(', ')}`,
      });
    return {
      key: keyOf(context, item.deployment_id),
      index: item.index,
      state: item.state,
      version: Math.max(1, item.version),
      ...(clean && { properties: clean.properties }),
    };
  });
  const { rows } = await context.client.query<{ id: string; ok: boolean; drifted: boolean }>(INSERT, [
    context.tenant,
    text,
  ]);
  const written = new Map(rows.map((row) => [row.id, row]));
  for (const { id, item } of records) {
    const row = written.get(id);
    const isOther =
      (item.is_status_check_ok !== null && item.is_status_check_ok !== row?.ok) ||
      (item.has_configuration_drift !== null && item.has_configuration_drift !== row?.drifted);
    if (isOther && !remarks.has(id))
      remarks.set(id, {
        code: 'status-differs',
        text: 'its status or drift, computed from its system properties, is not what the archive says',
      });
  }
  return remarks;
}

/** Instances without an index get the next free one of their node. */
const INSERT = `insert into node_instances as i (tenant, deployment_key, id, node_id, index, host_id, state, version,
    properties_version, runtime_properties, system_properties, relationships, scaling_groups, visibility, private_to)
  select $1, d.key, x->'r'->'item'->>'id', x->'r'->'item'->>'node_id',
    coalesce((x->'c'->>'index')::integer,
      (select coalesce(max(o.index), 0) from node_instances o where o.deployment_key = d.key and o.node_id = x->'r'->'item'->>'node_id')
        + row_number() over (partition by d.key, x->'r'->'item'->>'node_id' order by place)),
    x->'r'->'item'->>'host_id', x->'c'->>'state', (x->'c'->>'version')::integer, (x->'c'->>'version')::integer,
    coalesce(x->'c'->'properties', nullif((x->'r'->'item'->'runtime_properties')::text, 'null')::json, '{}'),
    nullif((x->'r'->'item'->'system_properties')::text, 'null')::jsonb,
    coalesce(nullif((x->'r'->'item'->'relationships')::text, 'null')::json, '[]'),
    coalesce(nullif((x->'r'->'item'->'scaling_groups')::text, 'null')::json, '[]'),
    d.visibility, ${privateCreatorText({ table: 'd' })}
  from json_array_elements($2::json) with ordinality as e(x, place)
    join deployments d on d.key = (x->'c'->>'key')::bigint order by place
  on conflict (id, tenant) do update set node_id = excluded.node_id, index = excluded.index, host_id = excluded.host_id,
    state = excluded.state, version = greatest(i.version + 1, excluded.version),
    properties_version = greatest(i.version + 1, excluded.version), runtime_properties = excluded.runtime_properties,
    system_properties = excluded.system_properties, relationships = excluded.relationships,
    scaling_groups = excluded.scaling_groups
  returning i.id, i.is_status_check_ok as ok, i.has_configuration_drift as drifted`;
