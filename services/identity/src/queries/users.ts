import type { ListPage, ListQuery } from '@baton/contracts';
import type { UserAnswer } from '@baton/contracts/http/users';
import { notFound } from '@baton/kernel';
import { type Db, selectFields, selectPage } from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { LockSettings } from '../domain/account-lock';
import type { DB as Tables } from '../store/tables.gen';

export interface UserView {
  /** Return lists of groups and tenants instead of counts. */
  getData: boolean;
  /** Return password hashes (only for restoring users). */
  includeHash: boolean;
}

interface Deps {
  db: Db<Tables>;
  lock: LockSettings;
}

// Roles of user u in tenants: direct, by groups, and by the mapping of a provider.
const memberships = sql`(
  select tenant, role, null as group_name, true as is_direct from tenant_users where user_id = u.id
  union all
  select tg.tenant, tg.role, tg.group_name, false from user_group_members m join tenant_groups tg using (group_name) where m.user_id = u.id
  union all
  select tenant, role, null, false from provider_tenants where user_id = u.id)`;

const tenantsWithRoles = sql`coalesce((
  select jsonb_object_agg(tenant, jsonb_build_object('tenant-role', direct, 'roles', roles)) from (
    select tenant, max(role) filter (where is_direct) as direct, jsonb_agg(distinct role) as roles
    from ${memberships} r group by tenant) t), '{}')`;

const tenantRoles = sql`jsonb_build_object(
  'direct', coalesce((select jsonb_object_agg(tenant, role) from tenant_users where user_id = u.id), '{}'),
  'groups', coalesce((
    select jsonb_object_agg(tenant, roles) from (
      select tenant, jsonb_object_agg(role, names) as roles from (
        select tenant, role, jsonb_agg(group_name order by group_name) as names
        from ${memberships} r where group_name is not null group by tenant, role) g group by tenant) t), '{}'))`;

const groupSystemRoles = sql`coalesce((
  select jsonb_object_agg(role, names) from (
    select g.role, jsonb_agg(g.name order by g.name) as names
    from user_group_members m join user_groups g on g.name = m.group_name where m.user_id = u.id group by g.role) r), '{}')`;

function isLocked({ failedLoginsBeforeLock, lockPeriodMinutes }: LockSettings): RawBuilder<unknown> {
  if (lockPeriodMinutes < 0) return sql`false::boolean`;
  return sql`(u.failed_logins > ${failedLoginsBeforeLock}::integer
    and u.last_failed_login_at + ${lockPeriodMinutes}::float8 * interval '1 minute' > app_now()) is true`;
}

function columnsOf(view: UserView, lock: LockSettings): Record<keyof UserAnswer, RawBuilder<unknown>> {
  const { getData } = view;
  return {
    username: sql`u.username`,
    role: sql`u.role`,
    active: sql`u.active`,
    created_at: sql`u.created_at`,
    first_login_at: sql`u.first_login_at`,
    last_login_at: sql`u.last_login_at`,
    is_locked: isLocked(lock),
    show_getting_started: sql`u.show_getting_started`,
    groups: getData
      ? sql`coalesce((select jsonb_agg(group_name order by group_name) from user_group_members where user_id = u.id), '[]')`
      : sql`(select count(*) from user_group_members where user_id = u.id)`,
    tenants: getData ? tenantsWithRoles : sql`(select count(distinct tenant) from ${memberships} r)`,
    tenant_roles: getData ? tenantRoles : sql`null`,
    group_system_roles: groupSystemRoles,
    password_hash: view.includeHash ? sql`u.password_hash` : sql`null`,
  };
}

const from = sql`users u`;

export async function listUsers(deps: Deps, list: ListQuery, view: UserView): Promise<ListPage<UserAnswer>> {
  return selectPage<UserAnswer>({
    db: deps.db.query,
    from,
    columns: columnsOf(view, deps.lock),
    list,
    search: sql`u.username`,
    // User names are the same in any letter case (reference/rest-api.md 3.2).
    filters: { username: anyCase(sql`u.username`) },
    tieBreak: sql`u.created_at, u.id`,
  });
}

/** Returns a filter by equality in any letter case. */
export function anyCase(column: RawBuilder<unknown>): (values: string[]) => RawBuilder<SqlBool> {
  return (values) =>
    values.length === 0
      ? sql<SqlBool>`${column} is null`
      : sql<SqlBool>`lower(${column}) = any(${values.map((value) => value.toLowerCase())}::text[])`;
}

/** @throws AppError not_found_error */
export async function getUser(deps: Deps, username: string, view: UserView): Promise<UserAnswer> {
  const columns = selectFields(columnsOf(view, deps.lock));
  const { rows } = await sql<UserAnswer>`select ${columns} from ${from}
    where lower(u.username) = lower(${username})`.execute(deps.db.query);
  if (!rows[0]) throw notFound('User', username);
  return rows[0];
}
