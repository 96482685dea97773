import { selectPlugin } from '@baton/dsl';
import { notFound } from '@baton/kernel';
import { type Db, visibleTo } from '@baton/postgres';
import { sql } from 'kysely';
import { type InstalledPlugin, listPluginsNamed } from '../store/plugins.sql';
import { storageOf, type TenantStorage } from '../store/storage.sql';
import type { DB } from '../store/tables.gen';
import { findUploadOf } from '../store/uploads.sql';

/**
 * The caller of a read by another service or a worker. A service that acts without a user sees the whole tenant, like an
 * administrator without a name.
 */
export interface Who {
  tenant: string;
  username: string;
  isAdministrator: boolean;
}
type Reader = Db<DB>['query'];

export interface BlueprintForServices {
  id: string;
  tenant: string;
  state: string;
  visibility: string;
  created_by: string;
  main_file_name: string;
  digest: string | null;
  plan_json: string | null;
  labels_json: string;
}

/** Returns a blueprint that `who` may see, with its plan as the stored text. @throws AppError not_found_error */
export async function blueprintFor(
  db: Reader,
  who: Who,
  id: string,
  hasPlan: boolean,
): Promise<BlueprintForServices> {
  const { rows } = await sql<BlueprintForServices>`
    select id, tenant, state, visibility, created_by, main_file_name, digest, ${hasPlan ? sql`plan::text` : sql`null`} as plan_json,
      (select coalesce(json_agg(json_build_object('key', l.key, 'value', l.value) order by l.key, l.value), '[]'::json)::text
       from blueprint_labels l where l.tenant = blueprints.tenant and l.blueprint_id = blueprints.id) as labels_json
    from blueprints where id = ${id} and ${visibleTo(who)} order by tenant = ${who.tenant} desc limit 1`.execute(
    db,
  );
  if (!rows[0]) throw notFound('Blueprint', id);
  return rows[0];
}

/** Returns the uploaded plugin that a plan with this declaration gets; null when none fits. */
export async function pluginFor(
  db: Reader,
  who: Who,
  declared: { name: string; version: string | null; distribution: string | null },
): Promise<InstalledPlugin | null> {
  const named = await listPluginsNamed(db, who, declared.name);
  const candidates = named.map((p) => ({ ...p, name: p.package_name, version: p.package_version ?? '' }));
  return selectPlugin(declared, candidates);
}

/** Returns the digest of the wagon of a plugin that `who` may use. @throws AppError not_found_error */
export async function wagonOf(db: Reader, who: Who, pluginId: string): Promise<string> {
  const { rows } = await sql<{ wagon_digest: string }>`
    select wagon_digest from plugins where id = ${pluginId} and ${visibleTo(who)}`.execute(db);
  if (!rows[0]) throw notFound('Plugin', pluginId);
  return rows[0].wagon_digest;
}

/** Returns the bytes of the tenant's blueprints, plugins and files. */
export const storageFor = (db: Reader, tenant: string): Promise<TenantStorage> => storageOf(db, tenant);

/** Returns the upload that clients see as this execution. @throws AppError not_found_error */
export async function uploadFor(db: Reader, tenant: string, executionId: string) {
  const upload = await findUploadOf(db, tenant, executionId);
  if (upload === null) throw notFound('Execution', executionId);
  return upload;
}
