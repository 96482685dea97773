import { type Item, recordReader } from '@baton/cloudify-archive';
import {
  type ImportContext,
  type Judgement,
  ownerOf,
  type ReadRecord,
  recordImporter,
  sharedMap,
  visibilityOf,
} from '@baton/import-part';
import { isUuid } from '@baton/kernel';
import { judgeByDeployment, takenDeployments } from './records';

type Dependency = Item<'inter_deployment_dependencies'>;
type Dependencies = readonly ReadRecord<Dependency>[];

/** Deployments here that got a dependency: their consumers are written at the end. */
export const newTargets = (context: ImportContext): Map<string, number> =>
  sharedMap<number>(context, `targets of ${context.tenant}`);

/** Dependencies between deployments. One on a deployment that is not here has no target, as after a deletion. */
export const dependencies = recordImporter<Dependency>({
  type: 'inter_deployment_dependencies',
  read: recordReader('inter_deployment_dependencies'),
  idOf: ({ id }) => id.toLowerCase(),
  judge,
  async met({ client, tenant }, records) {
    const { rows } = await client.query<{ id: string; met: string }>(
      'select id, md5(i::text) as met from inter_deployment_dependencies i where tenant = $1 and id::text = any($2::text[])',
      [tenant, records.map(({ id }) => id)],
    );
    return new Map(rows.map(({ id, met }) => [id, met]));
  },
  async remove({ client, tenant }, records) {
    await client.query(
      'delete from inter_deployment_dependencies where tenant = $1 and id::text = any($2::text[])',
      [tenant, records.map(({ id }) => id)],
    );
  },
  write,
});

async function judge(context: ImportContext, records: Dependencies): Promise<Map<string, Judgement>> {
  const judged = new Map<string, Judgement>();
  for (const { id, item } of records) {
    const judgement = judgeOne(context, item);
    if (judgement) judged.set(id, judgement);
  }
  return judged;
}

function judgeOne(context: ImportContext, item: Dependency): Judgement | null {
  if (!isUuid(item.id))
    return { fate: 'lost', code: 'invalid', text: 'id is a text that does not fit; expected a UUID' };
  if (item.source_deployment_id === null)
    return item.external_source === null
      ? { fate: 'lost', code: 'dangling', text: 'it has no source' }
      : null;
  if (item.source_deployment_id === item.target_deployment_id)
    return { fate: 'lost', code: 'cycle', text: 'it is a dependency of a deployment on itself' };
  return judgeByDeployment(context, item.source_deployment_id);
}

async function write(context: ImportContext, records: Dependencies) {
  const { client, tenant } = context;
  const taken = takenDeployments(context);
  const rows = records.map(({ item }) => ({
    ...item,
    dependency_creator: item.dependency_creator ?? '',
    source_key: taken.get(item.source_deployment_id ?? '')?.key ?? null,
    visibility: visibilityOf(item.visibility),
    created_by: ownerOf(item.created_by),
  }));
  const { rows: written } = await client.query<{ id: string; target_key: number | null }>(INSERT, [
    tenant,
    JSON.stringify(rows),
  ]);
  const targets = new Map(written.map(({ id, target_key: key }) => [id, key]));
  for (const key of targets.values()) if (key !== null) newTargets(context).set(String(key), key);
  return new Map(
    records.flatMap(({ id, item }) => {
      if (item.target_deployment_id === null || targets.get(id) !== null) return [];
      return [[id, { code: 'target-missing', text: 'its target is not here; it has none' }] as const];
    }),
  );
}

const INSERT = `insert into inter_deployment_dependencies (id, tenant, dependency_creator, source_key, target_key,
    target_deployment_func, external_source, external_target, visibility, created_by, created_at)
  select x.id, $1, x.dependency_creator, x.source_key, (select d.key from deployments d where d.tenant = $1 and d.id = x.target_deployment_id),
    nullif(x.target_deployment_func::text, 'null')::json, nullif(x.external_source::text, 'null')::json,
    nullif(x.external_target::text, 'null')::json, x.visibility, x.created_by, coalesce(x.created_at, app_now())
  from json_to_recordset($2::json) as x(id uuid, dependency_creator text, source_key bigint, target_deployment_id text,
    target_deployment_func json, external_source json, external_target json, visibility text, created_by text,
    created_at timestamptz)
  returning id, target_key`;
