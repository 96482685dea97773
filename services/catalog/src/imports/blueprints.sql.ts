/** Statements of the import of blueprints. */
import type { ImportClient, ImportContext } from '@baton/import-part';
import { newId } from '@baton/kernel';
import type { PlanUse } from '../domain/plan-uses';
import type { ChosenPlan } from './plan-choice';
import type { BlueprintRecord } from './records';

/** What of a blueprint is compared. */
export interface BlueprintHere {
  tenant: string;
  visibility: string;
  state: string;
  main_file_name: string;
  description: string | null;
  is_hidden: boolean;
  error: string | null;
  digest: string | null;
  archive_digest: string | null;
  labels: string[];
}

/** Blueprints of all tenants with this id. While an import is applied, nobody else adds or widens the id. */
export async function blueprintsHere(
  { client, isRehearsal }: Pick<ImportContext, 'client' | 'isRehearsal'>,
  id: string,
): Promise<BlueprintHere[]> {
  if (!isRehearsal)
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`blueprint ${id}`]);
  const { rows } = await client.query<BlueprintHere>(
    `select tenant, visibility, state, main_file_name, description, is_hidden, error, digest, archive_digest,
       array(select key || '=' || value from blueprint_labels l where l.tenant = b.tenant and l.blueprint_id = b.id) as labels
     from blueprints b where id = $1`,
    [id],
  );
  return rows.map((row) => ({ ...row, labels: row.labels.sort() }));
}

/** Labels and uses go with the row. */
export async function deleteBlueprintRows(client: ImportClient, tenant: string, id: string): Promise<void> {
  await client.query('delete from blueprints where tenant = $1 and id = $2', [tenant, id]);
}

export interface NewBlueprint {
  id: string;
  row: BlueprintHere;
  record: BlueprintRecord;
  plan: ChosenPlan;
  owner: string;
  /** Ids of users by name. */
  ids: ReadonlyMap<string, number>;
  icon: Buffer | null;
}

export async function insertBlueprintRows(client: ImportClient, blueprint: NewBlueprint): Promise<void> {
  const { id, row, record, plan, owner, ids, icon } = blueprint;
  await client.query(INSERT, [
    row.tenant,
    id,
    newId(),
    newId(),
    owner,
    ids.get(owner) ?? 0,
    row.visibility,
    record.created_at ?? null,
    record.updated_at ?? null,
    row.state,
    row.error,
    record.error_traceback ?? null,
    row.main_file_name,
    row.description,
    row.is_hidden,
    plan.planJson,
    JSON.stringify(plan.requirements),
    row.digest,
    row.archive_digest,
    record.archive?.size ?? null,
    icon,
  ]);
  await insertUses(client, row.tenant, id, plan.uses);
  await insertLabels(client, blueprint);
}

const INSERT = `
  insert into blueprints (tenant, id, upload_id, upload_execution_id, created_by, creator_id, visibility, upload_visibility,
    created_at, updated_at, upload_ended_at, state, error, error_traceback, main_file_name, requested_main_file, description,
    is_hidden, plan, requirements, digest, archive_digest, archive_size, icon)
  values ($1, $2, $3, $4, $5, $6, $7, $7, coalesce($8::timestamptz, app_now()), coalesce($9, $8, app_now()), coalesce($8, app_now()),
    $10, $11, $12, $13, $13, $14, $15, $16::json, $17::json, $18, $19, $20, $21)`;

async function insertUses(
  client: ImportClient,
  tenant: string,
  id: string,
  uses: readonly PlanUse[],
): Promise<void> {
  await client.query(
    `insert into blueprint_uses (tenant, blueprint_id, kind, name, version)
     select $1, $2, u.* from unnest($3::text[], $4::text[], $5::text[]) u on conflict do nothing`,
    [
      tenant,
      id,
      uses.map(({ kind }) => kind),
      uses.map(({ name }) => name),
      uses.map(({ version }) => version),
    ],
  );
}

async function insertLabels(
  client: ImportClient,
  { id, row, record, owner, ids }: NewBlueprint,
): Promise<void> {
  const of = <T>(pick: (label: BlueprintRecord['labels'][number]) => T): T[] => record.labels.map(pick);
  await client.query(
    `insert into blueprint_labels (tenant, blueprint_id, key, value, created_at, created_by, creator_id)
     select $1, $2, l.key, l.value, coalesce(l.at, app_now()), l.by, l.user_id
     from unnest($3::text[], $4::text[], $5::timestamptz[], $6::text[], $7::integer[]) as l (key, value, at, by, user_id)
     on conflict do nothing`,
    [
      row.tenant,
      id,
      of(({ key }) => key),
      of(({ value }) => value),
      of(({ created_at: at }) => at ?? record.created_at ?? null),
      of(({ created_by: by }) => by ?? owner),
      of(({ created_by: by }) => ids.get(by ?? owner) ?? 0),
    ],
  );
}
