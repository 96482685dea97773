import { type Item, recordReader } from '@baton/cloudify-archive';
import {
  type ImportContext,
  type Judgement,
  ownerOf,
  type ReadRecord,
  recordImporter,
} from '@baton/import-part';
import { judgeByDeployment } from './records';

type Agents = readonly ReadRecord<Item<'agents'>>[];

/** State of an agent of which only the record was taken over: nothing here has a connection to it. */
const STATE = 'restored';

/** Agents as records: without credentials, and without a connection. */
export const agents = recordImporter<Item<'agents'>>({
  type: 'agents',
  read: recordReader('agents'),
  idOf: ({ id }) => id,
  judge,
  async met({ client, tenant }, records) {
    const { rows } = await client.query<{ id: string; met: string }>(
      'select name as id, md5(a::text) as met from agents a where tenant = $1 and name = any($2::text[])',
      [tenant, records.map(({ id }) => id)],
    );
    return new Map(rows.map(({ id, met }) => [id, met]));
  },
  async write({ client, tenant }, records) {
    const rows = records.map(({ item }) => ({ ...item, created_by: ownerOf(item.created_by) }));
    await client.query(INSERT, [tenant, JSON.stringify(rows), STATE]);
    return new Map();
  },
});

/** An agent belongs to a node instance of an imported deployment. */
async function judge(context: ImportContext, records: Agents): Promise<Map<string, Judgement>> {
  const judged = new Map<string, Judgement>();
  const { rows } = await context.client.query<{ id: string; deployment: string }>(
    `select i.id, d.id as deployment from node_instances i join deployments d on d.key = i.deployment_key
     where i.tenant = $1 and i.id = any($2::text[])`,
    [context.tenant, records.map(({ item }) => item.node_instance_id)],
  );
  const deployments = new Map(rows.map(({ id, deployment }) => [id, deployment]));
  for (const { id, item } of records) {
    const deployment = deployments.get(item.node_instance_id ?? '') ?? null;
    const judgement = judgeByDeployment(context, deployment);
    if (deployment === null)
      judged.set(id, { fate: 'lost', code: 'dangling', text: 'its node instance is not imported' });
    else if (judgement) judged.set(id, judgement);
  }
  return judged;
}

const INSERT = `insert into agents (tenant, name, node_instance_id, state, ip, install_method, system, version, created_by, created_at,
    updated_at)
  select $1, a.id, a.node_instance_id, $3, a.ip, a.install_method, a.system, a.version, a.created_by,
    coalesce(a.created_at, app_now()), a.updated_at
  from json_to_recordset($2::json) as a(id text, node_instance_id text, ip text, install_method text, system text, version text,
    created_by text, created_at timestamptz, updated_at timestamptz)
  on conflict (tenant, name) do update set node_instance_id = excluded.node_instance_id, state = excluded.state,
    ip = excluded.ip, install_method = excluded.install_method, system = excluded.system, version = excluded.version,
    created_by = excluded.created_by, created_at = excluded.created_at, updated_at = excluded.updated_at`;
