import { type Item, recordReader } from '@baton/cloudify-archive';
import { judgedBy, ownerOf, recordImporter, visibilityOf } from '@baton/import-part';
import { isJsonObject, type JsonObject } from '@baton/kernel';
import { judgeByDeployment, keyOf } from './records';

/** An update that had not ended failed: nobody carries it on here. */
const UNFINISHED = {
  code: 'unfinished',
  text: 'it had not ended when the archive was made, and counts as failed',
};

/** Updates of deployments, as history. */
export const deploymentUpdates = recordImporter<Item<'deployment_updates'>>({
  type: 'deployment_updates',
  read: recordReader('deployment_updates'),
  idOf: ({ id }) => id,
  judge: async (context, records) =>
    judgedBy(records, (item) => judgeByDeployment(context, item.deployment_id)),
  async met({ client, tenant }, records) {
    const { rows } = await client.query<{ id: string; met: string }>(
      `select u.id, md5(u::text) as met from deployment_updates u join deployments d on d.key = u.deployment_key
       where d.tenant = $1 and u.id = any($2::text[])`,
      [tenant, records.map(({ id }) => id)],
    );
    return new Map(rows.map(({ id, met }) => [id, met]));
  },
  async remove({ client }, records) {
    await client.query('delete from deployment_updates where id = any($1::text[])', [
      records.map(({ id }) => id),
    ]);
  },
  async write(context, records) {
    const isEnded = (state: string | null) => state === 'successful' || state === 'failed';
    await context.client.query(INSERT_UPDATES, [
      JSON.stringify(records.map(({ item }) => updateRow(keyOf(context, item.deployment_id), item))),
    ]);
    return new Map(
      records.flatMap(({ id, item }) => (isEnded(item.state) ? [] : [[id, UNFINISHED] as const])),
    );
  },
});

/** Parts that have another form than those of updates here are left out: nobody acts on them. */
function updateRow(key: number, item: Item<'deployment_updates'>): Record<string, unknown> {
  const object = (value: unknown) => (isJsonObject(value) ? value : null);
  const { deployment_update_nodes: nodes } = item;
  return {
    ...{ id: item.id, key, state: item.state === 'successful' ? 'successful' : 'failed' },
    ...{ execution_id: item.execution_id, created_by: ownerOf(item.created_by), created_at: item.created_at },
    ...{ old_blueprint_id: item.old_blueprint_id, new_blueprint_id: item.new_blueprint_id ?? '' },
    runtime_only_evaluation: item.runtime_only_evaluation,
    ...{ old_inputs: object(item.old_inputs) ?? {}, new_inputs: object(item.new_inputs) ?? {} },
    steps: item.steps.filter(isJsonObject).flatMap((step, n) => stepOf(item.id, step, n)),
    nodes: Array.isArray(nodes) && nodes.every(isJsonObject) ? nodes : null,
    instances: object(item.deployment_update_node_instances),
    modified: object(item.modified_entity_ids),
  };
}

const ACTIONS = ['add', 'remove', 'modify'];

function stepOf(updateId: string, step: JsonObject, n: number): JsonObject[] {
  const { id, action, entity_type: type, entity_id: entity, topology_order: order } = step;
  if (!ACTIONS.includes(String(action)) || typeof type !== 'string') return [];
  const names = (Array.isArray(entity) ? entity : String(entity ?? '').split(':')).map(String);
  return [
    {
      id: typeof id === 'string' ? id : `${updateId}-${n}`,
      ...{ action: action!, entity_type: type, entity_id: names },
      topology_order: typeof order === 'number' && Number.isSafeInteger(order) ? order : 0,
    },
  ];
}

const INSERT_UPDATES = `insert into deployment_updates (id, deployment_key, state, execution_id, created_by, created_at, is_administrator,
    old_blueprint_id, new_blueprint_id, old_inputs, new_inputs, runtime_only_evaluation, steps, deployment_update_nodes,
    deployment_update_node_instances, modified_entity_ids)
  select c.id, c.key, c.state, c.execution_id, c.created_by, coalesce(c.created_at, app_now()), false, c.old_blueprint_id,
    c.new_blueprint_id, c.old_inputs, c.new_inputs, c.runtime_only_evaluation, c.steps, nullif(c.nodes::text, 'null')::json,
    nullif(c.instances::text, 'null')::json, nullif(c.modified::text, 'null')::json
  from json_to_recordset($1::json) as c(id text, key bigint, state text, execution_id text, created_by text,
    created_at timestamptz, old_blueprint_id text, new_blueprint_id text, runtime_only_evaluation boolean, old_inputs json,
    new_inputs json, steps json, nodes json, instances json, modified json)`;

const ENDS = new Set(['successful', 'failed', 'no_changes_required']);

/** Updates of plugins, as history. */
export const pluginsUpdates = recordImporter<Item<'plugins_update'>>({
  type: 'plugins_update',
  read: recordReader('plugins_update'),
  idOf: ({ id }) => id,
  async met({ client, tenant }, records) {
    const { rows } = await client.query<{ id: string; met: string }>(
      'select id, md5(u::text) as met from plugins_updates u where tenant = $1 and id = any($2::text[])',
      [tenant, records.map(({ id }) => id)],
    );
    return new Map(rows.map(({ id, met }) => [id, met]));
  },
  async remove({ client, tenant }, records) {
    await client.query('delete from plugins_updates where tenant = $1 and id = any($2::text[])', [
      tenant,
      records.map(({ id }) => id),
    ]);
  },
  async write({ client, tenant }, records) {
    const rows = records.map(({ item }) => {
      const state = ENDS.has(item.state ?? '') ? item.state! : 'failed';
      return {
        ...{ id: item.id, state, execution_id: item.execution_id, created_at: item.created_at },
        ...{ blueprint_id: item.blueprint_id ?? '', temp_blueprint_id: item.temp_blueprint_id ?? '' },
        ...{ visibility: visibilityOf(item.visibility), created_by: ownerOf(item.created_by) },
        ...{ forced: item.forced, all_tenants: item.all_tenants },
        deployments: updatedDeployments(tenant, item, state === 'failed' ? 'failed' : 'successful'),
      };
    });
    await client.query(INSERT_PLUGINS_UPDATES, [tenant, JSON.stringify(rows)]);
    return new Map(
      records.flatMap(({ id, item }) => (ENDS.has(item.state ?? '') ? [] : [[id, UNFINISHED] as const])),
    );
  },
});

/** Deployments of an update of plugins; `state` stands for all of them, since archives do not tell that of each. */
function updatedDeployments(tenant: string, item: Item<'plugins_update'>, state: 'failed' | 'successful') {
  const of = (owner: string, ids: unknown) =>
    (Array.isArray(ids) ? ids : [])
      .filter((id) => typeof id === 'string')
      .map((id) => ({ tenant: owner, id, state, request_id: null, since: null }));
  if (item.all_tenants && isJsonObject(item.deployments_per_tenant))
    return Object.entries(item.deployments_per_tenant).flatMap(([owner, ids]) => of(owner, ids));
  return of(tenant, item.deployments_to_update);
}

const INSERT_PLUGINS_UPDATES = `insert into plugins_updates (id, tenant, blueprint_id, temp_blueprint_id, state, execution_id, visibility,
    created_by, is_administrator, created_at, forced, all_tenants, selection, auto_correct_types, deployments)
  select u.id, $1, u.blueprint_id, u.temp_blueprint_id, u.state, u.execution_id, u.visibility, u.created_by, false,
    coalesce(u.created_at, app_now()), u.forced, u.all_tenants, '{}', false, u.deployments
  from json_to_recordset($2::json) as u(id text, blueprint_id text, temp_blueprint_id text, state text, execution_id text,
    visibility text, created_by text, created_at timestamptz, forced boolean, all_tenants boolean, deployments json)`;
