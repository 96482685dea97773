import type { FilterRule, Principal, Visibility } from '@baton/contracts';
import {
  type AnyQuery,
  type AnyTx,
  isGlobal as isGlobalRow,
  isPrivate,
  visibilityScope,
} from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';

export interface FilterRow {
  tenant: string;
  id: string;
  value: FilterRule[];
  visibility: Visibility;
  is_system_filter: boolean;
}

export function filterScope(principal: Principal, allTenants = false): RawBuilder<SqlBool> {
  return visibilityScope(principal, 'f', allTenants);
}

export const filterColumns: Record<string, RawBuilder<unknown>> = {
  id: sql`f.id`,
  created_at: sql`f.created_at`,
  updated_at: sql`f.updated_at`,
  created_by: sql`f.created_by`,
  tenant_name: sql`f.tenant`,
  visibility: sql`f.visibility`,
  private_resource: isPrivate('f'),
  resource_availability: sql`f.visibility`,
  is_system_filter: sql`f.is_system_filter`,
  value: sql`f.value`,
  labels_filter_rules: sql`(select coalesce(json_agg(r order by n), '[]') from json_array_elements(f.value) with ordinality as x(r, n) where r ->> 'type' = 'label')`,
  attrs_filter_rules: sql`(select coalesce(json_agg(r order by n), '[]') from json_array_elements(f.value) with ordinality as x(r, n) where r ->> 'type' = 'attribute')`,
};

export async function findFilter(
  db: AnyQuery | AnyTx,
  principal: Principal,
  id: string,
): Promise<FilterRow | null> {
  const { rows } = await sql<FilterRow>`
    select tenant, id, value, visibility, is_system_filter from deployment_filters f where f.id = ${id} and ${filterScope(principal)}
    order by f.tenant = ${principal.tenant} desc limit 1`.execute(db);
  return rows[0] ?? null;
}

export async function lockFilter(tx: AnyTx, filter: FilterRow): Promise<FilterRow | null> {
  const { rows } = await sql<FilterRow>`
    select tenant, id, value, visibility, is_system_filter from deployment_filters where tenant = ${filter.tenant} and id = ${filter.id} for update`.execute(
    tx,
  );
  return rows[0] ?? null;
}

/** @throws unique violation when the tenant has the id. */
export async function insertFilter(
  tx: AnyTx,
  filter: {
    tenant: string;
    id: string;
    value: readonly FilterRule[];
    visibility: Visibility;
    createdBy: string;
    createdAt: string | null;
  },
): Promise<void> {
  await sql`insert into deployment_filters (tenant, id, value, visibility, created_by, created_at, updated_at)
    values (${filter.tenant}, ${filter.id}, ${JSON.stringify(filter.value)}::json, ${filter.visibility}, ${filter.createdBy},
      coalesce(${filter.createdAt}::timestamptz, app_now()), coalesce(${filter.createdAt}::timestamptz, app_now()))`.execute(
    tx,
  );
}

export async function updateFilter(
  tx: AnyTx,
  filter: FilterRow,
  change: { value?: readonly FilterRule[]; visibility?: Visibility },
): Promise<void> {
  await sql`update deployment_filters set
      value = coalesce(${change.value === undefined ? null : JSON.stringify(change.value)}::json, value),
      visibility = coalesce(${change.visibility ?? null}, visibility), updated_at = app_now()
    where tenant = ${filter.tenant} and id = ${filter.id}`.execute(tx);
}

export async function deleteFilter(tx: AnyTx, filter: FilterRow): Promise<void> {
  await sql`delete from deployment_filters where tenant = ${filter.tenant} and id = ${filter.id}`.execute(tx);
}

/** Whether another tenant has a global filter of this id, or (for a new global one) any at all. */
export async function isFilterIdTakenElsewhere(
  db: AnyQuery | AnyTx,
  tenant: string,
  id: string,
  isGlobal: boolean,
): Promise<boolean> {
  const { rows } = await sql`
    select 1 as found from deployment_filters where id = ${id} and tenant <> ${tenant} ${isGlobal ? sql`` : sql`and ${isGlobalRow()}`} limit 1`.execute(
    db,
  );
  return rows.length > 0;
}
