import { type Item, recordReader } from '@baton/cloudify-archive';
import { type ImportContext, judgedBy, type ReadRecord, recordImporter } from '@baton/import-part';
import { isJsonObject } from '@baton/kernel';
import { judgeByExecution, judgeId } from './records';

type Graphs = readonly ReadRecord<Item<'tasks_graphs'>>[];

/** Tasks graphs with their operations. They are kept for reading and never run, as those of other clients of the API. */
export const tasksGraphs = recordImporter<Item<'tasks_graphs'>>({
  type: 'tasks_graphs',
  read: recordReader('tasks_graphs'),
  idOf: ({ id }) => id.toLowerCase(),
  judge: async (context, records) =>
    judgedBy(records, ({ id, execution_id }) => judgeId(id) ?? judgeByExecution(context, execution_id)),
  async met({ client }, records) {
    const { rows } = await client.query<{ id: string; met: string }>(
      `select id, md5(g::text) as met from client_graphs g where id::text = any($1::text[])`,
      [records.map(({ id }) => id)],
    );
    return new Map(rows.map(({ id, met }) => [id, met]));
  },
  async remove({ client }, records) {
    await client.query('delete from client_graphs where id::text = any($1::text[])', [
      records.map(({ id }) => id),
    ]);
  },
  async write({ client, tenant }, records) {
    await client.query(
      `insert into client_graphs (id, execution_id, name, created_at)
       select g.id, g.execution_id, coalesce(g.name, ''), coalesce(g.created_at, app_now())
       from json_to_recordset($1::json) as g(id uuid, execution_id uuid, name text, created_at timestamptz)`,
      [JSON.stringify(records.map(({ item: { operations: _, ...graph } }) => graph))],
    );
    return await insertOperations(client, tenant, records);
  },
});

/** Operations whose ids are taken, or that have none, are left out. */
async function insertOperations(client: ImportContext['client'], tenant: string, records: Graphs) {
  const operations = records.flatMap(({ id, item }) =>
    item.operations.filter(isJsonObject).map((one) => ({ ...one, graph: id, execution: item.execution_id })),
  );
  const { rows } = await client.query<{ graph: string; count: number }>(
    `with added as (
       insert into client_operations (tenant, id, graph_id, execution_id, name, type, state, dependencies, parameters, manager_name,
         agent_name, is_counted, created_at)
       select $1, o.id, o.graph, o.execution, coalesce(o.name, ''), coalesce(o.type, ''), coalesce(o.state, ''),
         coalesce(nullif(o.dependencies, 'null'), '[]'), coalesce(nullif(o.parameters, 'null'), '{}'), o.manager_name, o.agent_name, true,
         coalesce(o.created_at, app_now())
       from jsonb_to_recordset($2::jsonb) as o(place integer, id text, graph uuid, execution uuid, name text, type text, state text,
         dependencies jsonb, parameters jsonb, manager_name text, agent_name text, created_at timestamptz)
       where o.id is not null order by o.place
       on conflict do nothing returning graph_id)
     select graph_id as graph, count(*)::int as count from added group by 1`,
    [tenant, JSON.stringify(operations.map((one, place) => ({ ...one, place })))],
  );
  const counts = new Map(rows.map(({ graph, count }) => [graph, count]));
  return new Map(
    records.flatMap(({ id, item }) => {
      const missing = item.operations.length - (counts.get(id) ?? 0);
      if (missing === 0) return [];
      return [
        [
          id,
          {
            code: 'operations-missing',
            text: `${missing} of its operations have no id, or one that is taken`,
          },
        ] as const,
      ];
    }),
  );
}
