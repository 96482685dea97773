import type { ListPage, ListQuery, Principal } from '@baton/contracts';
import { hasPermission } from '@baton/contracts';
import type { TenantAnswer } from '@baton/contracts/http/tenants';
import { notFound } from '@baton/kernel';
import { type Db, selectFields, selectPage } from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { DB as Tables } from '../store/tables.gen';

interface Deps {
  db: Db<Tables>;
}

// Users of tenant t with their roles there, direct and by groups.
const members = sql`(
  select user_id, role, true as is_direct from tenant_users where tenant = t.name
  union all
  select m.user_id, tg.role, false from tenant_groups tg join user_group_members m using (group_name) where tg.tenant = t.name)`;

const usersWithRoles = sql`coalesce((
  select jsonb_object_agg(username, jsonb_build_object('tenant-role', direct, 'roles', roles)) from (
    select u.username, max(r.role) filter (where r.is_direct) as direct, jsonb_agg(distinct r.role) as roles
    from ${members} r join users u on u.id = r.user_id group by u.username) x), '{}')`;

const userRoles = sql`jsonb_build_object(
  'direct', coalesce((select jsonb_object_agg(u.username, tu.role) from tenant_users tu join users u on u.id = tu.user_id
    where tu.tenant = t.name), '{}'),
  'groups', coalesce((select jsonb_object_agg(tg.group_name, jsonb_build_object('role', tg.role, 'users', coalesce((
      select jsonb_agg(u.username order by u.username) from user_group_members m join users u on u.id = m.user_id
      where m.group_name = tg.group_name), '[]')))
    from tenant_groups tg where tg.tenant = t.name), '{}'))`;

function columnsOf(getData: boolean): Record<keyof TenantAnswer, RawBuilder<unknown>> {
  return {
    name: sql`t.name`,
    groups: getData
      ? sql`coalesce((select jsonb_object_agg(group_name, role) from tenant_groups where tenant = t.name), '{}')`
      : sql`(select count(*) from tenant_groups where tenant = t.name)`,
    users: getData ? usersWithRoles : sql`(select count(distinct user_id) from ${members} r)`,
    user_roles: getData ? userRoles : sql`null`,
    // Tenants share the broker here: a tenant has no account of its own.
    rabbitmq_username: sql`null`,
    rabbitmq_password: sql`null`,
    rabbitmq_vhost: sql`null`,
  };
}

/** Returns the filter of visible tenants: every tenant for holders of all_tenants, otherwise those the user belongs to. */
function visibleTo(principal: Principal): RawBuilder<SqlBool>[] {
  if (hasPermission(principal, 'all_tenants')) return [];
  const { userId } = principal;
  return [
    sql<SqlBool>`(t.name in (select tenant from tenant_users where user_id = ${userId}) or t.name in (
      select tg.tenant from user_group_members m join tenant_groups tg using (group_name) where m.user_id = ${userId}))`,
  ];
}

export async function listTenants(
  deps: Deps,
  principal: Principal,
  list: ListQuery,
  getData: boolean,
): Promise<ListPage<TenantAnswer>> {
  return selectPage<TenantAnswer>({
    db: deps.db.query,
    from: sql`tenants t`,
    columns: columnsOf(getData),
    list,
    where: visibleTo(principal),
    search: sql`t.name`,
    tieBreak: sql`t.created_at, t.name`,
  });
}

/**
 * Returns the names of all tenants in order, without those that are being removed; at most `limit` of them. Services ask often, so
 * it does not go through Prisma.
 */
export async function listTenantNames({ db }: Deps, limit?: number): Promise<string[]> {
  const all = db.query
    .selectFrom('tenants')
    .select('name')
    .where('closing_since', 'is', null)
    .orderBy('name');
  const rows = await (limit === undefined ? all : all.limit(limit)).execute();
  return rows.map((row) => row.name);
}

/** @throws AppError not_found_error */
export async function getTenant(deps: Deps, name: string, getData: boolean): Promise<TenantAnswer> {
  const columns = selectFields(columnsOf(getData));
  const { rows } = await sql<TenantAnswer>`select ${columns} from tenants t where t.name = ${name}`.execute(
    deps.db.query,
  );
  if (!rows[0]) throw notFound('Tenant', name);
  return rows[0];
}
