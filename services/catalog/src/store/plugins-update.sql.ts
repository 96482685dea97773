import type { Db, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { PlanUse } from '../domain/plan-uses';
import type { ParsedBlueprint } from './blueprints.sql';
import type { DB } from './tables.gen';

type Reader = Db<DB>['query'] | Tx<DB>;

export interface UpdatableBlueprint {
  main_file_name: string;
  archive_digest: string;
  archive_size: number;
}

/** Returns an uploaded blueprint of the tenant with its archive. */
export async function findUpdatable(
  db: Reader,
  tenant: string,
  id: string,
): Promise<UpdatableBlueprint | null> {
  const { rows } = await sql<UpdatableBlueprint>`
    select main_file_name, archive_digest, archive_size from blueprints
    where tenant = ${tenant} and id = ${id} and state = 'uploaded' and archive_digest is not null`.execute(
    db,
  );
  return rows[0] ?? null;
}

export async function readUses(db: Reader, tenant: string, id: string): Promise<PlanUse[]> {
  const { rows } = await sql<PlanUse>`
    select kind, name, version from blueprint_uses where tenant = ${tenant} and blueprint_id = ${id}
    order by kind, name, version`.execute(db);
  return rows;
}

/** Inserts a hidden copy of a blueprint with its own plan; returns false when the copy exists already or the blueprint is gone. */
export async function insertCopy(
  tx: Tx<DB>,
  tenant: string,
  of: { blueprintId: string; tempBlueprintId: string },
  ids: { uploadId: string; executionId: string },
  plan: ParsedBlueprint,
): Promise<boolean> {
  const done = await sql`
    insert into blueprints (tenant, id, upload_id, upload_execution_id, created_by, creator_id, visibility, state,
      main_file_name, requested_main_file, upload_visibility, is_by_administrator, archive_digest, archive_size, archive_url,
      description, is_hidden, plan, requirements, digest, upload_ended_at)
    select tenant, ${of.tempBlueprintId}, ${ids.uploadId}, ${ids.executionId}, created_by, creator_id, visibility, 'uploaded',
      main_file_name, requested_main_file, visibility, is_by_administrator, archive_digest, archive_size, archive_url,
      ${plan.description}, true, ${plan.planJson}::json, ${plan.requirementsJson}::json, ${plan.digest}, app_now()
    from blueprints where tenant = ${tenant} and id = ${of.blueprintId}
    on conflict do nothing`.execute(tx);
  return done.numAffectedRows === 1n;
}

/** Gives a blueprint the plan and the uses of its copy; returns false when there is no such blueprint. */
export async function adoptPlan(
  tx: Tx<DB>,
  tenant: string,
  blueprintId: string,
  copyId: string,
): Promise<boolean> {
  const done = await sql`
    update blueprints b set plan = c.plan, requirements = c.requirements, description = c.description, digest = c.digest,
      updated_at = app_now()
    from blueprints c where b.tenant = ${tenant} and b.id = ${blueprintId} and c.tenant = ${tenant} and c.id = ${copyId}`.execute(
    tx,
  );
  await sql`delete from blueprint_uses where tenant = ${tenant} and blueprint_id = ${blueprintId}`.execute(
    tx,
  );
  await sql`
    insert into blueprint_uses (tenant, blueprint_id, kind, name, version)
    select tenant, ${blueprintId}, kind, name, version from blueprint_uses
    where tenant = ${tenant} and blueprint_id = ${copyId}
      and exists (select 1 from blueprints b where b.tenant = ${tenant} and b.id = ${blueprintId})`.execute(
    tx,
  );
  return done.numAffectedRows === 1n;
}

export async function showCopy(tx: Tx<DB>, tenant: string, id: string): Promise<void> {
  await sql`update blueprints set is_hidden = false, updated_at = app_now()
    where tenant = ${tenant} and id = ${id}`.execute(tx);
}
