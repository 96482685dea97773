import { type Item, recordReader } from '@baton/cloudify-archive';
import { type Judgement, ownerOf, type ReadRecord, recordImporter, visibilityOf } from '@baton/import-part';
import type { Json } from '@baton/kernel';
import { deploymentRules } from '../commands/filters';

type Filters = readonly ReadRecord<Item<'deployments_filters'>>[];

/** Filters of deployments. Those of the system are here already. */
export const deploymentFilters = recordImporter<Item<'deployments_filters'>>({
  type: 'deployments_filters',
  read: recordReader('deployments_filters'),
  idOf: ({ id }) => id,
  judge: async (_context, records) => judgeRules(records),
  async met({ client, tenant }, records) {
    const { rows } = await client.query<{ id: string; met: string }>(
      'select id, md5(f::text) as met from deployment_filters f where tenant = $1 and id = any($2::text[])',
      [tenant, records.map(({ id }) => id)],
    );
    return new Map(rows.map(({ id, met }) => [id, met]));
  },
  async write({ client, tenant }, records) {
    const rows = records.map(({ item }) => ({
      id: item.id,
      value: deploymentRules(item.value as Json),
      visibility: visibilityOf(item.visibility),
      created_by: ownerOf(item.created_by),
      created_at: item.created_at,
    }));
    await client.query(
      `insert into deployment_filters (tenant, id, value, visibility, created_by, created_at, updated_at)
       select $1, f.id, f.value, f.visibility, f.created_by, coalesce(f.created_at, app_now()), coalesce(f.created_at, app_now())
       from json_to_recordset($2::json) as f(id text, value json, visibility text, created_by text, created_at timestamptz)
       on conflict (tenant, id) do update set value = excluded.value, visibility = excluded.visibility,
         created_by = excluded.created_by, created_at = excluded.created_at, updated_at = app_now()`,
      [tenant, JSON.stringify(rows)],
    );
    return new Map();
  },
});

const SYSTEM: Judgement = { fate: 'skipped', code: 'system-filter', text: 'this manager has its own' };

function judgeRules(records: Filters): Map<string, Judgement> {
  const judged = new Map<string, Judgement>();
  for (const { id, item } of records) {
    if (item.is_system_filter || id.startsWith('csys-')) judged.set(id, SYSTEM);
    else
      try {
        deploymentRules(item.value as Json);
      } catch {
        judged.set(id, {
          fate: 'lost',
          code: 'rules-unreadable',
          text: 'a rule of it has no form that is known',
        });
      }
  }
  return judged;
}
