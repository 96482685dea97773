import type { Principal, Visibility } from '@baton/contracts';
import {
  type AnyQuery,
  type AnyTx,
  isGlobal as isGlobalRow,
  isPrivate,
  visibilityScope,
} from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Location } from '../domain/site-location';
import { noteChangedAt } from './noted-deployments.sql';

export interface SiteRow {
  key: number;
  tenant: string;
  name: string;
  visibility: Visibility;
  created_by: string;
}

export function siteScope(principal: Principal, allTenants = false): RawBuilder<SqlBool> {
  return visibilityScope(principal, 's', allTenants);
}

export const siteColumns: Record<string, RawBuilder<unknown>> = {
  name: sql`s.name`,
  latitude: sql`s.latitude`,
  longitude: sql`s.longitude`,
  created_at: sql`s.created_at`,
  created_by: sql`s.created_by`,
  tenant_name: sql`s.tenant`,
  visibility: sql`s.visibility`,
  private_resource: isPrivate('s'),
  resource_availability: sql`s.visibility`,
};

export async function findSite(
  db: AnyQuery | AnyTx,
  principal: Principal,
  name: string,
): Promise<SiteRow | null> {
  const { rows } = await sql<SiteRow>`
    select key, tenant, name, visibility, created_by from sites s where s.name = ${name} and ${siteScope(principal)}
    order by s.tenant = ${principal.tenant} desc limit 1`.execute(db);
  return rows[0] ?? null;
}

/** Returns the row of a site for a command, locked. */
export async function lockSite(tx: AnyTx, key: number): Promise<SiteRow | null> {
  const { rows } =
    await sql<SiteRow>`select key, tenant, name, visibility, created_by from sites where key = ${key} for update`.execute(
      tx,
    );
  return rows[0] ?? null;
}

/** Inserts a site. @throws unique violation when the tenant has the name. */
export async function insertSite(
  tx: AnyTx,
  site: {
    tenant: string;
    name: string;
    location: Location | null;
    visibility: Visibility;
    createdBy: string;
    createdAt: string | null;
  },
): Promise<void> {
  await sql`insert into sites (tenant, name, latitude, longitude, visibility, created_by, created_at)
    values (${site.tenant}, ${site.name}, ${site.location?.latitude ?? null}, ${site.location?.longitude ?? null}, ${site.visibility},
      ${site.createdBy}, coalesce(${site.createdAt}::timestamptz, app_now()))`.execute(tx);
}

/** Updates a site. `location: undefined` keeps it, null clears it. @throws unique violation when the new name is taken. */
export async function updateSite(
  tx: AnyTx,
  key: number,
  change: { name?: string; location?: Location | null; visibility?: Visibility },
): Promise<void> {
  const sets = [
    ...(change.name === undefined ? [] : [sql`name = ${change.name}`]),
    ...(change.visibility === undefined ? [] : [sql`visibility = ${change.visibility}`]),
    ...(change.location === undefined
      ? []
      : [
          sql`latitude = ${change.location?.latitude ?? null}, longitude = ${change.location?.longitude ?? null}`,
        ]),
  ];
  if (sets.length > 0) await sql`update sites set ${sql.join(sets)} where key = ${key}`.execute(tx);
  if (change.name !== undefined) await noteChangedAt(tx, key);
}

export async function deleteSite(tx: AnyTx, key: number): Promise<void> {
  await noteChangedAt(tx, key);
  await sql`delete from sites where key = ${key}`.execute(tx);
}

/** Whether another tenant has a global site of this name, or (for a new global one) any at all. */
export async function isSiteNameTakenElsewhere(
  db: AnyQuery | AnyTx,
  tenant: string,
  name: string,
  isGlobal: boolean,
): Promise<boolean> {
  const { rows } = await sql`
    select 1 as found from sites where name = ${name} and tenant <> ${tenant} ${isGlobal ? sql`` : sql`and ${isGlobalRow()}`} limit 1`.execute(
    db,
  );
  return rows.length > 0;
}
