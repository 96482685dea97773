/** Lists the blueprints that need a secret, another blueprint or a plugin, among those that the caller sees. */
import type { ListPage, ListQuery, Principal } from '@baton/contracts';
import type { ResourceUseAnswer } from '@baton/contracts/http/uses';
import { type Db, selectPage } from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { DB } from '../store/tables.gen';
import { blueprintFrom, seenBlueprints } from './blueprint-columns';
import { getBlueprint } from './read-blueprints';
import { getPlugin } from './read-plugins';

const columns: Record<keyof ResourceUseAnswer, RawBuilder<unknown>> = {
  kind: sql`'blueprint'::text`,
  id: sql`b.id`,
  created_at: sql`b.created_at`,
  created_by: sql`b.created_by`,
  tenant_name: sql`b.tenant`,
  visibility: sql`b.visibility`,
};

function usersThat(
  db: Db<DB>,
  principal: Principal,
  list: ListQuery,
  need: RawBuilder<SqlBool>,
): Promise<ListPage<ResourceUseAnswer>> {
  return selectPage<ResourceUseAnswer>({
    db: db.query,
    from: blueprintFrom,
    columns,
    list,
    where: [seenBlueprints(principal, false), sql<SqlBool>`not b.is_hidden`, need],
    search: sql`b.id`,
    tieBreak: sql`b.created_at, b.tenant, b.id`,
  });
}

/** Finds blueprints by the names of secrets in their plans. A name that a function computes is in no plan. */
export function secretUses(
  db: Db<DB>,
  principal: Principal,
  list: ListQuery,
  key: string,
): Promise<ListPage<ResourceUseAnswer>> {
  const names = sql<SqlBool>`exists (
    select from json_array_elements(case when json_typeof(b.requirements->'secrets') = 'array'
      then b.requirements->'secrets' else '[]' end) s
    where json_typeof(s.value) = 'string' and s.value #>> '{}' = ${key})`;
  return usersThat(db, principal, list, names);
}

/** Lists the blueprints that import a blueprint. @throws AppError not_found_error */
export async function blueprintUses(
  db: Db<DB>,
  principal: Principal,
  list: ListQuery,
  id: string,
): Promise<ListPage<ResourceUseAnswer>> {
  const include = ['tenant_name', 'visibility'];
  const { tenant_name: tenant, visibility } = await getBlueprint(db.query, principal, id, include);
  return usersThat(db, principal, list, uses('blueprint', id, '', visibility, tenant));
}

/** Lists the blueprints that use a plugin. @throws AppError not_found_error */
export async function pluginUses(
  db: Db<DB>,
  principal: Principal,
  list: ListQuery,
  id: string,
): Promise<ListPage<ResourceUseAnswer>> {
  const plugin = await getPlugin(db.query, principal, id);
  const { package_name: name, package_version: version, visibility, tenant_name: tenant } = plugin;
  return usersThat(
    db,
    principal,
    list,
    uses('plugin', String(name), String(version ?? ''), visibility, tenant),
  );
}

/** Returns the condition for uses: in the tenant of the resource, or in every tenant when the resource is global. */
function uses(
  kind: 'plugin' | 'blueprint',
  name: string,
  version: string,
  visibility: unknown,
  tenant: unknown,
): RawBuilder<SqlBool> {
  const where = visibility === 'global' ? sql`true` : sql`b.tenant = ${tenant}`;
  return sql<SqlBool>`${where} and exists (select from blueprint_uses u where u.tenant = b.tenant and u.blueprint_id = b.id
    and u.kind = ${kind} and u.name = ${name} and u.version = ${version})`;
}
