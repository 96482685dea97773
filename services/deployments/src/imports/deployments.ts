import { type Item, recordReader } from '@baton/cloudify-archive';
import { IMPORTED_FROM_LABEL, QUARANTINE_LABEL } from '@baton/contracts';
import {
  type ImportContext,
  type Judgement,
  ownerOf,
  type ReadRecord,
  recordImporter,
  visibilityOf,
  withLines,
} from '@baton/import-part';
import { type AnyTx, globalText } from '@baton/postgres';
import { isEnvironment } from '../commands/parents';
import { documentOf, putDocuments } from '../store/documents.sql';
import { noteChanged } from '../store/noted-deployments.sql';
import { modelOf, ownLabels } from './plan-parts';
import { takenDeployments } from './records';
import { MAX_WORKDIR_BYTES, type Workdir, wantedWorkdirs, workdirOf } from './working-folders';

/** A deployment, and the archive of its working folder. */
type Deployment = Item<'deployments'> & { workdir: Workdir | null };
type Deployments = readonly ReadRecord<Deployment>[];

const readItem = recordReader('deployments');

/** Deployments with their plans and labels. Their statuses and parents are written at the end (finish.ts). */
export const deployments = recordImporter<Deployment>({
  type: 'deployments',
  read(raw) {
    const read = readItem(raw);
    return 'item' in read ? { item: { ...read.item, workdir: workdirOf(raw) } } : read;
  },
  idOf: ({ id }) => id,
  judge: judgeGlobals,
  met: meet,
  async remove({ client, tenant }, records) {
    await client.query('delete from deployments where tenant = $1 and id = any($2::text[])', [
      tenant,
      records.map(({ id }) => id),
    ]);
  },
  async write(context, records, tx) {
    const remarks = await insertRows(context, records, tx);
    await insertLabels(context, records);
    await insertPlans(context, records, tx);
    await quarantine(context, records);
    return remarks;
  },
  decided(context, { id, item }, fate) {
    const taken = takenDeployments(context);
    const archived = {
      installation: item.installation_status,
      services: item.sub_services_count,
      environments: item.sub_environments_count,
    };
    taken.set(id, { key: taken.get(id)?.key ?? null, fate, archived });
  },
});

/** A global id belongs to one tenant only. */
async function judgeGlobals({ client, tenant }: ImportContext, records: Deployments) {
  const { rows } = await client.query<{ id: string }>(
    `select distinct d.id from deployments d join unnest($2::text[], $3::boolean[]) r (id, is_global) on r.id = d.id
     where d.tenant <> $1 and (r.is_global or ${globalText('d')})`,
    [tenant, records.map(({ id }) => id), records.map(({ item }) => item.visibility === 'global')],
  );
  const judgement: Judgement = {
    fate: 'lost',
    code: 'global-id-taken',
    text: 'another tenant has a deployment of this id, and one of the two is global',
  };
  return new Map(rows.map(({ id }) => [id, judgement]));
}

async function meet(context: ImportContext, records: Deployments): Promise<Map<string, string>> {
  const { rows } = await context.client.query<{ id: string; key: number; met: string }>(
    `select d.id, d.key, md5(d::text || coalesce(p::text, '')) as met
     from deployments d left join deployment_plans p on p.deployment_key = d.key where d.tenant = $1 and d.id = any($2::text[])`,
    [context.tenant, records.map(({ id }) => id)],
  );
  for (const { id, key } of rows)
    takenDeployments(context).set(id, {
      key,
      fate: '',
      archived: { installation: null, services: 0, environments: 0 },
    });
  return new Map(rows.map(({ id, met }) => [id, met]));
}

async function insertRows(context: ImportContext, records: Deployments, tx: AnyTx) {
  const { client, tenant } = context;
  const rows = records.map(({ item }) => ({
    id: item.id,
    blueprint_id: item.blueprint_id,
    display_name: (item.display_name ?? item.id).slice(0, 1024),
    description: item.description,
    visibility: visibilityOf(item.visibility),
    created_by: ownerOf(item.created_by),
    created_at: item.created_at,
    updated_at: item.updated_at ?? item.created_at,
    site: item.site_name,
    runtime_only_evaluation: item.runtime_only_evaluation,
    is_environment: isEnvironment(item.labels),
  }));
  const { rows: written } = await client.query<{ id: string; key: number; site_key: number | null }>(
    `insert into deployments (tenant, id, blueprint_id, display_name, description, visibility, created_by, created_at, updated_at,
       site_key, runtime_only_evaluation, is_environment)
     select $1, d.id, d.blueprint_id, d.display_name, d.description, d.visibility, d.created_by,
       coalesce(d.created_at, app_now()), coalesce(d.updated_at, app_now()),
       (select s.key from sites s where s.name = d.site and (s.tenant = $1 or ${globalText('s')})
         order by s.tenant = $1 desc limit 1), d.runtime_only_evaluation, d.is_environment
     from json_to_recordset($2::json) as d(id text, blueprint_id text, display_name text, description text, visibility text,
       created_by text, created_at timestamptz, updated_at timestamptz, site text, runtime_only_evaluation boolean,
       is_environment boolean)
     returning id, key, site_key`,
    [tenant, JSON.stringify(rows)],
  );
  const taken = takenDeployments(context);
  const remarks = new Map<string, { code: string; text: string }>();
  const sites = new Map(rows.map(({ id, site }) => [id, site]));
  for (const { id, key, site_key: site } of written) {
    taken.get(id)!.key = key;
    if (sites.get(id) !== null && site === null)
      remarks.set(id, { code: 'site-missing', text: 'its site is not there; it has none' });
  }
  for (const { id, item } of records) {
    if (!item.workdir) continue;
    if (item.workdir.size <= MAX_WORKDIR_BYTES) wantedWorkdirs(context).set(id, item.workdir);
    else
      remarks.set(id, {
        code: 'workdir-too-large',
        text: `its working folder is left out: packed it has ${item.workdir.size} bytes, and at most ${MAX_WORKDIR_BYTES} are taken`,
      });
  }
  noteChanged(
    tx,
    written.map(({ key }) => key),
  );
  return remarks;
}

/** Before the plans, with which the stored list entries of deployments are written. */
async function insertLabels(context: ImportContext, records: Deployments): Promise<void> {
  const taken = takenDeployments(context);
  const labels = records.flatMap(({ id, item }) => [
    ...ownLabels(item.labels).map(({ key, value, created_at: at, created_by: by }) => ({
      deployment: taken.get(id)!.key,
      ...{ key, value, at: at ?? item.created_at, by: ownerOf(by ?? item.created_by) },
    })),
    ...importLabels(context).map(([key, value]) => ({
      deployment: taken.get(id)!.key,
      ...{ key, value, at: null, by: ownerOf(item.created_by) },
    })),
  ]);
  await context.client.query(
    `insert into deployment_labels (deployment_key, tenant, key, value, created_at, created_by, creator_id)
     select l.deployment, $1, l.key, l.value, coalesce(l.at, app_now()), l.by, 0
     from json_to_recordset($2::json) as l(deployment bigint, key text, value text, at timestamptz, by text)
     on conflict do nothing`,
    [context.tenant, JSON.stringify(labels)],
  );
}

const importLabels = ({ source, jobId }: ImportContext): [string, string][] => [
  [IMPORTED_FROM_LABEL, source],
  [QUARANTINE_LABEL, jobId],
];

/** The node types of a plan are written at the end, when its nodes are there. */
async function insertPlans(context: ImportContext, records: Deployments, tx: AnyTx): Promise<void> {
  const taken = takenDeployments(context);
  const models = new Map(records.map(({ id, item }) => [id, documentOf(modelOf(item))]));
  await putDocuments(tx, [...models.values()]);
  const part = (name: string) => `coalesce(nullif((x->'r'->'item'->'${name}')::text, 'null')::json, '{}')`;
  await context.client.query(
    `insert into deployment_plans (deployment_key, model, inputs, outputs, capabilities, scaling_groups, resource_tags, node_types)
     select (x->'c'->>'key')::bigint, decode(x->'c'->>'model', 'hex'), ${['inputs', 'outputs', 'capabilities', 'scaling_groups', 'resource_tags'].map(part).join(', ')}, '{}'
     from json_array_elements($1::json) x`,
    [withLines(records, ({ id }) => ({ key: taken.get(id)!.key, model: models.get(id)!.digest }))],
  );
}

async function quarantine(context: ImportContext, records: Deployments): Promise<void> {
  const taken = takenDeployments(context);
  await context.client.query(
    `insert into deployment_quarantines (deployment_key, import_id, source)
     select k, $2, $3 from unnest($1::bigint[]) k`,
    [records.map(({ id }) => taken.get(id)!.key), context.importId, context.source],
  );
}
