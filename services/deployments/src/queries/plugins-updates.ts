import type { ListPage, ListQuery, Principal } from '@baton/contracts';
import { type AnyQuery, isPrivate, selectFields, selectPage, visibilityScope } from '@baton/postgres';
import { type RawBuilder, sql } from 'kysely';

/** Response fields over `plugins_updates u`. */
const columns: Record<string, RawBuilder<unknown>> = {
  id: sql`u.id`,
  created_at: sql`u.created_at`,
  created_by: sql`u.created_by`,
  tenant_name: sql`u.tenant`,
  visibility: sql`u.visibility`,
  private_resource: isPrivate('u'),
  resource_availability: sql`u.visibility`,
  state: sql`u.state`,
  blueprint_id: sql`u.blueprint_id`,
  temp_blueprint_id: sql`case when u.state <> 'no_changes_required' then u.temp_blueprint_id end`,
  execution_id: sql`u.execution_id`,
  deployments_to_update: sql`array(select e ->> 'id' from json_array_elements(u.deployments) e where e ->> 'tenant' = u.tenant)`,
  deployments_per_tenant: sql`case when u.all_tenants then (
    select coalesce(json_object_agg(t.tenant, t.ids), '{}'::json) from (
      select e ->> 'tenant' as tenant, json_agg(e ->> 'id') as ids from json_array_elements(u.deployments) e group by 1) t) end`,
  forced: sql`u.forced`,
  all_tenants: sql`u.all_tenants`,
};

export function listPluginsUpdates(
  db: AnyQuery,
  principal: Principal,
  list: ListQuery,
): Promise<ListPage<Record<string, unknown>>> {
  return selectPage<Record<string, unknown>>({
    db,
    from: sql`plugins_updates u`,
    columns,
    list,
    where: [visibilityScope(principal, 'u', list.allTenants)],
    tieBreak: sql`u.created_at, u.id`,
    search: sql`u.id`,
  });
}

/** Returns an update that the caller may see; null when there is none. */
export async function findPluginsUpdate(
  db: AnyQuery,
  principal: Principal,
  id: string,
): Promise<Record<string, unknown> | null> {
  const { rows } = await sql<Record<string, unknown>>`
    select ${selectFields(columns)} from plugins_updates u where u.id = ${id} and ${visibilityScope(principal, 'u')}`.execute(
    db,
  );
  return rows[0] ?? null;
}
