import { type Item, recordReader } from '@baton/cloudify-archive';
import { judgedBy, member, ownerOf, recordImporter, withLines } from '@baton/import-part';
import { isUuid } from '@baton/kernel';
import { judgeByDeployment, keyOf } from './records';

const STARTED = {
  code: 'unfinished',
  text: 'it had not ended when the archive was made, and counts as rolled back; the node instances are as the archive has them',
};

/** Modifications of deployments, as history. */
export const modifications = recordImporter<Item<'deployment_modifications'>>({
  type: 'deployment_modifications',
  read: recordReader('deployment_modifications'),
  idOf: ({ id }) => id.toLowerCase(),
  judge: async (context, records) =>
    judgedBy(records, (item) =>
      isUuid(item.id)
        ? judgeByDeployment(context, item.deployment_id)
        : { fate: 'lost', code: 'invalid', text: 'id is a text that does not fit; expected a UUID' },
    ),
  async met({ client, tenant }, records) {
    const { rows } = await client.query<{ id: string; met: string }>(
      `select m.id, md5(m::text) as met from deployment_modifications m join deployments d on d.key = m.deployment_key
       where d.tenant = $1 and m.id::text = any($2::text[])`,
      [tenant, records.map(({ id }) => id)],
    );
    return new Map(rows.map(({ id, met }) => [id, met]));
  },
  async remove({ client }, records) {
    await client.query('delete from deployment_modifications where id::text = any($1::text[])', [
      records.map(({ id }) => id),
    ]);
  },
  async write(context, records) {
    await context.client.query(INSERT, [
      withLines(records, (item) => ({
        ...{ id: item.id, key: keyOf(context, item.deployment_id) },
        status: item.status === 'finished' ? 'finished' : 'rolledback',
        ...{ created_by: ownerOf(item.created_by), created_at: item.created_at },
        ended_at: item.ended_at ?? item.created_at,
      })),
    ]);
    return new Map(
      records.flatMap(({ id, item }) =>
        item.status === 'finished' || item.status === 'rolledback' ? [] : [[id, STARTED] as const],
      ),
    );
  },
});

const part = (name: string): string =>
  `coalesce(nullif((x->'r'->'item'->'node_instances'->'${name}')::text, 'null')::json, '[]')`;

/** Counts before a modification serve its rollback only, and none of these is under way. */
const INSERT = `insert into deployment_modifications (id, deployment_key, context, modified_nodes, status, created_by, created_at, ended_at,
    added_and_related, removed_and_related, before_modification, before_counts, before_rollback)
  select c.id, c.key, ${member('context')}, coalesce(${member('modified_nodes')}, '{}'), c.status, c.created_by,
    coalesce(c.created_at, app_now()), c.ended_at, ${part('added_and_related')}, ${part('removed_and_related')},
    ${part('before_modification')}, '{"nodes":[],"scaling_groups":{}}', ${part('before_rollback')}
  from json_array_elements($1::json) x cross join lateral json_to_record(x->'c') as c(id uuid, key bigint, status text,
    created_by text, created_at timestamptz, ended_at timestamptz)`;
