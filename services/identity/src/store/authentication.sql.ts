/** The statements behind every authentication: one each, prepared, because they run for each credential each second. */
import { type Db, prepared } from '@baton/postgres';
import type { DB as Tables } from './tables.gen';

export interface LoginRow {
  id: number;
  username: string;
  password_hash: string;
  role: string;
  active: boolean;
  failed_logins: number;
  /** Milliseconds since the last failed login; null: none. */
  since_failure_ms: number | null;
  is_first_login: boolean;
  group_roles: string[];
  tenant_roles: { tenant: string; role: string }[];
  is_tenant_there: boolean;
  /** Revision of the permission table. */
  revision: number;
  now: string;
}

export interface TokenLoginRow extends LoginRow {
  secret_hash: Buffer;
  is_expired: boolean;
}

// $2: tenant; $3: roles of every tenant are wanted, not of this one alone.
const rights = `
  u.id, u.username, u.password_hash, u.role, u.active, u.failed_logins,
  (extract(epoch from app_now() - u.last_failed_login_at) * 1000)::float8 as since_failure_ms,
  u.first_login_at is null as is_first_login,
  array(select g.role from user_group_members m join user_groups g on g.name = m.group_name where m.user_id = u.id) as group_roles,
  coalesce((select jsonb_agg(jsonb_build_object('tenant', r.tenant, 'role', r.role)) from (
      select tenant, role from tenant_users where user_id = u.id and ($3 or tenant = $2)
      union all
      select tg.tenant, tg.role from user_group_members m join tenant_groups tg using (group_name)
      where m.user_id = u.id and ($3 or tg.tenant = $2)) r), '[]') as tenant_roles,
  exists (select from tenants where name = $2 and closing_since is null) as is_tenant_there,
  (select revision from authorization_state) as revision,
  app_now() as now`;

const byName = {
  name: 'login-by-name',
  text: `select ${rights} from users u where lower(u.username) = lower($1)`,
};
const byToken = {
  name: 'login-by-token',
  text: `select ${rights}, t.secret_hash, coalesce(t.expiration_date <= app_now(), false) as is_expired
    from tokens t join users u on u.id = t.user_id where t.id = $1`,
};

/** The user called `username` (any letter case) with what decides about the rights in `tenant`, or in all tenants. */
export async function findLoginByName(
  db: Db<Tables>,
  username: string,
  tenant: string,
  allTenants: boolean,
): Promise<LoginRow | undefined> {
  return (await prepared<LoginRow>(db, byName, [username, tenant, allTenants]))[0];
}

/** The owner of token `tokenId`, as `findLoginByName`, with the hash to compare. */
export async function findLoginByToken(
  db: Db<Tables>,
  tokenId: string,
  tenant: string,
  allTenants: boolean,
): Promise<TokenLoginRow | undefined> {
  return (await prepared<TokenLoginRow>(db, byToken, [tokenId, tenant, allTenants]))[0];
}

const failure = {
  name: 'login-failed',
  text: `with quick as (select set_config('synchronous_commit', 'off', true))
    update users set failed_logins = failed_logins + 1, last_failed_login_at = app_now() from quick where id = $1`,
};

/**
 * Counts a wrong password. Does not wait for the disk: the wait, which the name of nobody does not have, would tell that the
 * user exists; a crash of PostgreSQL takes back the failures of its last half second.
 */
export async function countFailedLogin(db: Db<Tables>, userId: number): Promise<void> {
  await prepared(db, failure, [userId]);
}

const success = {
  name: 'login-succeeded',
  text: `update users set failed_logins = 0, last_login_at = app_now(), first_login_at = coalesce(first_login_at, app_now())
    where id = $1`,
};

/** A good password: the counter of failures starts again. */
export async function recordLogin(db: Db<Tables>, userId: number): Promise<void> {
  await prepared(db, success, [userId]);
}

/** Sets the latest use of tokens and the latest login of users; never moves one back. */
export async function recordActivity(
  db: Db<Tables>,
  tokens: ReadonlyMap<string, string>,
  logins: ReadonlyMap<number, string>,
): Promise<void> {
  if (tokens.size > 0) {
    await db.pool.query(
      `update tokens t set last_used = v.at from unnest($1::text[], $2::timestamptz[]) as v (id, at)
        where t.id = v.id and (t.last_used is null or t.last_used < v.at)`,
      [[...tokens.keys()], [...tokens.values()]],
    );
  }
  if (logins.size > 0) {
    await db.pool.query(
      `update users u set last_login_at = v.at from unnest($1::integer[], $2::timestamptz[]) as v (id, at)
        where u.id = v.id and (u.last_login_at is null or u.last_login_at < v.at)`,
      [[...logins.keys()], [...logins.values()]],
    );
  }
}
