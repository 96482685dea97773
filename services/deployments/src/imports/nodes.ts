import { type Item, recordReader } from '@baton/cloudify-archive';
import { type ImportContext, judgedBy, recordImporter, sharedMap, withLines } from '@baton/import-part';
import { documentsOf } from '../commands/node-documents';
import { documentOf, putDocuments } from '../store/documents.sql';
import { definitionOf } from './plan-parts';
import { judgeByDeployment, keyOf } from './records';

/** Nodes in the order of the archive, which is that of the plan. */
export const nodes = recordImporter<Item<'nodes'>>({
  type: 'nodes',
  read: recordReader('nodes'),
  idOf: ({ deployment_id: deployment, id }) => `${deployment}/${id}`,
  judge: async (context, records) =>
    judgedBy(records, (item) => judgeByDeployment(context, item.deployment_id)),
  async met({ client, tenant }, records) {
    const { rows } = await client.query<{ place: string; met: string }>(
      `select d.id || '/' || n.id as place, md5(n::text) as met
       from unnest($2::text[], $3::text[]) r (deployment, id) join deployments d on d.tenant = $1 and d.id = r.deployment
         join nodes n on n.deployment_key = d.key and n.id = r.id`,
      [tenant, records.map(({ item }) => item.deployment_id), records.map(({ item }) => item.id)],
    );
    return new Map(rows.map(({ place, met }) => [place, met]));
  },
  async write(context, records, tx) {
    const definitions = await documentsOf(
      records.map(({ item }) => definitionOf(item)),
      documentOf,
    );
    await putDocuments(tx, definitions);
    const digests = new Map(records.map((record, i) => [record, definitions[i]!.digest]));
    await context.client.query(INSERT, [
      withLines(records, (item, record) => ({
        key: keyOf(context, item.deployment_id),
        position: nextPosition(context, item.deployment_id),
        type: item.type ?? item.type_hierarchy.at(-1) ?? '',
        definition: digests.get(record),
        number: item.number_of_instances,
        planned: item.planned_number_of_instances,
        deploy: item.deploy_number_of_instances,
        min: item.min_number_of_instances,
        max: item.max_number_of_instances,
      })),
    ]);
    return new Map();
  },
});

const INSERT = `insert into nodes (deployment_key, id, position, type, host_id, definition, properties, number_of_instances,
    planned_number_of_instances, deploy_number_of_instances, min_number_of_instances, max_number_of_instances)
  select (x->'c'->>'key')::bigint, x->'r'->'item'->>'id', (x->'c'->>'position')::integer, x->'c'->>'type',
    x->'r'->'item'->>'host_id', decode(x->'c'->>'definition', 'hex'),
    coalesce(nullif((x->'r'->'item'->'properties')::text, 'null')::json, '{}'), (x->'c'->>'number')::integer,
    (x->'c'->>'planned')::integer, (x->'c'->>'deploy')::integer, (x->'c'->>'min')::integer, (x->'c'->>'max')::integer
  from json_array_elements($1::json) with ordinality as e(x, place) order by place
  on conflict (deployment_key, id) do update set type = excluded.type, host_id = excluded.host_id,
    definition = excluded.definition, properties = excluded.properties, number_of_instances = excluded.number_of_instances,
    planned_number_of_instances = excluded.planned_number_of_instances,
    deploy_number_of_instances = excluded.deploy_number_of_instances,
    min_number_of_instances = excluded.min_number_of_instances, max_number_of_instances = excluded.max_number_of_instances`;

/** Counts the nodes of each deployment from 0. */
function nextPosition(context: ImportContext, deploymentId: string): number {
  const positions = sharedMap<number>(context, `positions of ${context.tenant}`);
  const position = positions.get(deploymentId) ?? 0;
  positions.set(deploymentId, position + 1);
  return position;
}
