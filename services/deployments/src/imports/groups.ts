import { type Item, recordReader } from '@baton/cloudify-archive';
import {
  type ImportContext,
  ownerOf,
  type ReadRecord,
  recordImporter,
  visibilityOf,
} from '@baton/import-part';
import { ownLabels } from './plan-parts';

type Groups = readonly ReadRecord<Item<'deployment_groups'>>[];

/** Deployment groups with their labels and with those of their members that are here. */
export const deploymentGroups = recordImporter<Item<'deployment_groups'>>({
  type: 'deployment_groups',
  read: recordReader('deployment_groups'),
  idOf: ({ id }) => id,
  async met({ client, tenant }, records) {
    const { rows } = await client.query<{ id: string; met: string }>(
      'select id, md5(g::text) as met from deployment_groups g where tenant = $1 and id = any($2::text[])',
      [tenant, records.map(({ id }) => id)],
    );
    return new Map(rows.map(({ id, met }) => [id, met]));
  },
  async remove({ client, tenant }, records) {
    await client.query('delete from deployment_groups where tenant = $1 and id = any($2::text[])', [
      tenant,
      records.map(({ id }) => id),
    ]);
  },
  write,
});

async function write(context: ImportContext, records: Groups) {
  const { client, tenant } = context;
  const rows = records.map(({ item }) => ({
    id: item.id,
    description: item.description,
    default_blueprint_id: item.default_blueprint_id,
    default_inputs: item.default_inputs,
    creation_counter: Math.max(0, item.creation_counter),
    visibility: visibilityOf(item.visibility),
    created_by: ownerOf(item.created_by),
    created_at: item.created_at,
  }));
  const { rows: written } = await client.query<{ id: string; key: number }>(
    `insert into deployment_groups (tenant, id, description, default_blueprint_id, default_inputs, creation_counter, visibility,
       created_by, created_at)
     select $1, g.id, g.description, g.default_blueprint_id, nullif(g.default_inputs::text, 'null')::json, g.creation_counter,
       g.visibility, g.created_by, coalesce(g.created_at, app_now())
     from json_to_recordset($2::json) as g(id text, description text, default_blueprint_id text, default_inputs json,
       creation_counter integer, visibility text, created_by text, created_at timestamptz) returning id, key`,
    [tenant, JSON.stringify(rows)],
  );
  const keys = new Map(written.map(({ id, key }) => [id, key]));
  await insertLabels(context, records, keys);
  return await insertMembers(context, records, keys);
}

async function insertLabels({ client }: ImportContext, records: Groups, keys: ReadonlyMap<string, number>) {
  const labels = records.flatMap(({ id, item }) =>
    ownLabels(item.labels).map((label) => ({
      ...label,
      group: keys.get(id),
      created_at: label.created_at ?? item.created_at,
      created_by: ownerOf(label.created_by ?? item.created_by),
    })),
  );
  await client.query(
    `insert into deployment_group_labels (group_key, key, value, created_at, created_by, creator_id)
     select l.group, l.key, l.value, coalesce(l.created_at, app_now()), l.created_by, 0
     from json_to_recordset($1::json) as l("group" bigint, key text, value text, created_at timestamptz, created_by text)
     on conflict do nothing`,
    [JSON.stringify(labels)],
  );
}

async function insertMembers(
  { client, tenant }: ImportContext,
  records: Groups,
  keys: ReadonlyMap<string, number>,
) {
  const members = records.flatMap(({ id, item }) =>
    [...new Set(item.deployment_ids)].map((deployment) => ({ group: keys.get(id), deployment })),
  );
  const { rows } = await client.query<{ group_key: number; deployment: string }>(
    `insert into deployment_group_members (group_key, deployment_key)
     select m.group, d.key from rows from (json_to_recordset($2::json) as ("group" bigint, deployment text)) with ordinality
         as m("group", deployment, place)
       join deployments d on d.tenant = $1 and d.id = m.deployment order by m.place
     returning group_key, deployment_key`,
    [tenant, JSON.stringify(members)],
  );
  const counts = new Map<number, number>();
  for (const { group_key: group } of rows) counts.set(group, (counts.get(group) ?? 0) + 1);
  return new Map(
    records.flatMap(({ id, item }) => {
      const all = new Set(item.deployment_ids).size;
      const missing = all - (counts.get(keys.get(id)!) ?? 0);
      if (missing === 0) return [];
      return [
        [id, { code: 'members-missing', text: `${missing} of its ${all} deployments are not here` }] as const,
      ];
    }),
  );
}
