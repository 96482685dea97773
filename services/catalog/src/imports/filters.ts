import { parseFilterRules, ruleAttributes } from '@baton/contracts';
import {
  type Fate,
  type ImportContext,
  type Importer,
  lost,
  metFate,
  roomFor,
  takeValid,
} from '@baton/import-part';
import { canonicalJson } from '@baton/kernel';
import { type FilterRecord, filterRecord } from './records';

interface FilterHere {
  tenant: string;
  visibility: string;
  value: unknown;
}

const NO_OWNER = 'admin';

/** Stored filters of blueprints. Those of the system are made by each manager. */
export const filtersImporter: Importer = {
  type: 'blueprints_filters',
  take: (context, records) =>
    takeValid(records, filterRecord, 'id', async (valid) => {
      const fates: Fate[] = [];
      for (const record of valid) fates.push(await takeFilter(context, record));
      return fates;
    }),
};

async function takeFilter(context: ImportContext, record: FilterRecord): Promise<Fate> {
  const { id } = record;
  if (record.is_system_filter || /^csys-/i.test(id))
    return {
      id,
      fate: 'skipped',
      code: 'system_filter',
      text: 'every manager makes its own filters of the system',
    };
  const rules = parseFilterRules(record.value, ruleAttributes.blueprints);
  if (!rules.ok) return lost(id, 'invalid', 'its rules are none of a filter of blueprints');
  const { client, tenant, isRehearsal } = context;
  if (!isRehearsal)
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`blueprint-filter ${id}`]);
  const { rows } = await client.query<FilterHere>(
    'select tenant, visibility, value from blueprint_filters where id = $1',
    [id],
  );
  const own = rows.find((row) => row.tenant === tenant);
  const room = roomFor(
    id,
    record.visibility,
    rows.filter((row) => row !== own),
  );
  if ('fate' in room) return room.fate;
  const met = own && canonicalJson([own.visibility, own.value]);
  const fate: Fate = met
    ? metFate(context, {
        id,
        met,
        isSame: met === canonicalJson([room.visibility, rules.value]),
        what: 'a filter of this id',
      })
    : { id, fate: 'imported', ...room.told };
  if (fate.fate !== 'imported' && fate.fate !== 'replaced') return fate;
  await client.query(
    `insert into blueprint_filters (tenant, id, value, created_by, visibility, created_at, updated_at)
     values ($1, $2, $3::json, $4, $5, coalesce($6::timestamptz, app_now()), coalesce($7, $6, app_now()))
     on conflict (tenant, id) do update set value = excluded.value, visibility = excluded.visibility, updated_at = app_now()`,
    [
      tenant,
      id,
      JSON.stringify(rules.value),
      record.created_by ?? NO_OWNER,
      room.visibility,
      record.created_at ?? null,
      record.updated_at ?? null,
    ],
  );
  return fate;
}
