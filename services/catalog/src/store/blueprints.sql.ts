import type { LabelPair, Visibility } from '@baton/contracts';
import { type Db, isGlobal, type Tx, type Viewer, visibleTo } from '@baton/postgres';
import { sql } from 'kysely';
import type { PlanUse } from '../domain/plan-uses';
import type { UploadState } from '../domain/upload.machine';
import { noteResources, OWNED, type OwnedResource } from './noted-resources.sql';
import type { DB } from './tables.gen';

type Reader = Db<DB>['query'] | Tx<DB>;

/**
 * Locks a blueprint id. Ids are unique within a tenant and against global ones: every transaction that adds or widens an id holds
 * this lock.
 */
export async function lockBlueprintId(tx: Tx<DB>, id: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`blueprint ${id}`}, 0))`.execute(tx);
}

export interface BlueprintHead {
  tenant: string;
  id: string;
  upload_id: string;
  visibility: Visibility;
  created_by: string;
  state: UploadState;
  archive_digest: string | null;
}

const head = ['tenant', 'id', 'upload_id', 'visibility', 'created_by', 'state', 'archive_digest'] as const;

/** Returns the rows that conflict with a new id in `tenant`: its own, and global ones of other tenants. */
export async function findRivals(
  db: Reader,
  tenant: string,
  id: string,
  isNewGlobal: boolean,
): Promise<BlueprintHead[]> {
  const rows = await db
    .selectFrom('blueprints')
    .select(head)
    .where('id', '=', id)
    .where((e) => (isNewGlobal ? e.lit(true) : e.or([e('tenant', '=', tenant), isGlobal()])))
    .execute();
  return rows as BlueprintHead[];
}

export async function lockBlueprint(tx: Tx<DB>, tenant: string, id: string): Promise<BlueprintHead | null> {
  const row = await tx
    .selectFrom('blueprints')
    .select(head)
    .where('tenant', '=', tenant)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  return (row as BlueprintHead | undefined) ?? null;
}

export interface NewBlueprint {
  tenant: string;
  id: string;
  uploadId: string;
  uploadExecutionId: string;
  /** Null: now. */
  createdAt: string | null;
  createdBy: string;
  creatorId: number;
  isByAdministrator: boolean;
  visibility: Visibility;
  state: UploadState;
  mainFileName: string;
  archiveDigest: string | null;
  archiveSize: number | null;
  archiveUrl: string | null;
  requestedLabels: LabelPair[] | null;
}

export async function insertBlueprint(tx: Tx<DB>, b: NewBlueprint): Promise<void> {
  await tx
    .insertInto('blueprints')
    .values({
      tenant: b.tenant,
      id: b.id,
      upload_id: b.uploadId,
      upload_execution_id: b.uploadExecutionId,
      ...(b.createdAt === null ? {} : { created_at: b.createdAt }),
      created_by: b.createdBy,
      creator_id: b.creatorId,
      visibility: b.visibility,
      state: b.state,
      main_file_name: b.mainFileName,
      requested_main_file: b.mainFileName,
      upload_visibility: b.visibility,
      is_by_administrator: b.isByAdministrator,
      archive_digest: b.archiveDigest,
      archive_size: b.archiveSize,
      archive_url: b.archiveUrl,
      requested_labels: b.requestedLabels === null ? null : JSON.stringify(b.requestedLabels),
    })
    .execute();
  noteResources(tx, 'blueprints', 'created', [{ ...b, created_by: b.createdBy }]);
}

/** Deletes the row; returns the id of the execution that uploaded it, null when there was no row. */
export async function deleteBlueprint(tx: Tx<DB>, tenant: string, id: string): Promise<string | null> {
  const deleted = await tx
    .deleteFrom('blueprints')
    .where('tenant', '=', tenant)
    .where('id', '=', id)
    .returning(['upload_execution_id', ...OWNED])
    .executeTakeFirst();
  noteResources(tx, 'blueprints', 'deleted', deleted ? [deleted] : []);
  return deleted?.upload_execution_id ?? null;
}

export interface ParsedBlueprint {
  mainFileName: string;
  archiveDigest: string;
  archiveSize: number;
  planJson: string;
  requirementsJson: string;
  description: string | null;
  digest: string;
}

/** Ends an upload successfully. Returns false when another upload has taken the id since, or the lease was lost. */
export async function markUploaded(
  tx: Tx<DB>,
  uploadId: string,
  from: UploadState,
  owner: string | null,
  p: ParsedBlueprint,
): Promise<boolean> {
  const { rows } = await sql<OwnedResource>`
    update blueprints set state = 'uploaded', main_file_name = ${p.mainFileName}, archive_digest = ${p.archiveDigest},
      archive_size = ${p.archiveSize}, plan = ${p.planJson}::json, requirements = ${p.requirementsJson}::json,
      description = ${p.description}, digest = ${p.digest}, error = null, error_traceback = null, diagnostics = null,
      lease_owner = null, lease_until = null, upload_ended_at = app_now(), updated_at = app_now()
    where upload_id = ${uploadId} and state = ${from} and lease_owner is not distinct from ${owner}
    returning tenant, id, created_by, visibility`.execute(tx);
  noteResources(tx, 'blueprints', 'changed', rows);
  return rows.length === 1;
}

export async function insertUses(
  tx: Tx<DB>,
  tenant: string,
  id: string,
  uses: readonly PlanUse[],
): Promise<void> {
  if (uses.length === 0) return;
  await tx
    .insertInto('blueprint_uses')
    .values(uses.map((u) => ({ tenant, blueprint_id: id, ...u })))
    .execute();
}

/** Replaces the set of labels by `labels`; labels that stay keep their time and creator (reference/rest-api.md 4.2). */
export async function replaceLabels(
  tx: Tx<DB>,
  tenant: string,
  id: string,
  labels: readonly LabelPair[],
  by: { username: string; userId: number },
): Promise<void> {
  const keys = labels.map((l) => l.key);
  const values = labels.map((l) => l.value);
  await sql`
    delete from blueprint_labels where tenant = ${tenant} and blueprint_id = ${id}
      and (key, value) not in (select * from unnest(${keys}::text[], ${values}::text[]))`.execute(tx);
  await sql`
    insert into blueprint_labels (tenant, blueprint_id, key, value, creator_id, created_by)
    select ${tenant}, ${id}, l.*, ${by.userId}, ${by.username} from unnest(${keys}::text[], ${values}::text[]) l
    on conflict do nothing`.execute(tx);
}

export async function touch(
  tx: Tx<DB>,
  tenant: string,
  id: string,
  changes: {
    description?: string | null;
    visibility?: Visibility;
    icon?: Buffer | null;
    created_at?: string;
    created_by?: string;
  } = {},
): Promise<void> {
  const changed = await tx
    .updateTable('blueprints')
    .set({ ...changes, updated_at: sql<string>`app_now()` })
    .where('tenant', '=', tenant)
    .where('id', '=', id)
    .returning(OWNED)
    .execute();
  noteResources(tx, 'blueprints', 'changed', changed);
}

/**
 * Returns ids of blueprints whose plan imports `id`: of the same tenant, or of any tenant when the imported blueprint is global.
 */
export async function listImporters(
  db: Reader,
  tenant: string,
  id: string,
  isGlobal: boolean,
): Promise<string[]> {
  const rows = await db
    .selectFrom('blueprint_uses')
    .select('blueprint_id')
    .where('kind', '=', 'blueprint')
    .where('name', '=', id)
    .where((e) => (isGlobal ? e.lit(true) : e('tenant', '=', tenant)))
    .limit(20)
    .execute();
  return rows.map((r) => r.blueprint_id);
}

/** Returns an uploaded blueprint that `who` may import or read; a blueprint of the own tenant comes before a global one. */
export async function findImportableBlueprint(
  db: Reader,
  who: Viewer,
  id: string,
): Promise<{ tenant: string; main_file_name: string; archive_digest: string } | null> {
  const row = await db
    .selectFrom('blueprints')
    .select(['tenant', 'main_file_name', 'archive_digest'])
    .where('id', '=', id)
    .where('state', '=', 'uploaded')
    .where('archive_digest', 'is not', null)
    .where(visibleTo(who))
    .orderBy(sql`tenant = ${who.tenant}`, 'desc')
    .executeTakeFirst();
  return (row as { tenant: string; main_file_name: string; archive_digest: string } | undefined) ?? null;
}

export interface DownloadRow {
  tenant: string;
  state: UploadState;
  archive_digest: string | null;
  archive_size: number | null;
}

/** Returns the archive's fields of a blueprint that `who` may see. */
export async function findDownload(db: Reader, who: Viewer, id: string): Promise<DownloadRow | null> {
  const row = await db
    .selectFrom('blueprints')
    .select(['tenant', 'state', 'archive_digest', 'archive_size'])
    .where('id', '=', id)
    .where(visibleTo(who))
    .orderBy(sql`tenant = ${who.tenant}`, 'desc')
    .executeTakeFirst();
  return (row as DownloadRow | undefined) ?? null;
}
