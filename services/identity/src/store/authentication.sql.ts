/**
 * The statements of every authentication: one for each kind of credential, and prepared, because each credential is checked about
 * once a second.
 */
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
  /** Provider that the user belongs to; null: a local user. */
  provider: string | null;
  /** Milliseconds until the provider of the user is asked again; null: a local user. */
  check_in_ms: number | null;
  /** A service account has no password. */
  is_service: boolean;
  is_tenant_there: boolean;
  /** Revision of the permission table. */
  revision: number;
  now: string;
}

export interface TokenLoginRow extends LoginRow {
  secret_hash: Buffer;
  is_expired: boolean;
  /** Milliseconds until it ends if it is not used again; null: it has no end. */
  ends_in_ms: number | null;
}

// $2: tenant; $3: whether the roles of every tenant are read, not of this one alone.
const rights = `
  u.id, u.username, u.password_hash, u.role, u.active, u.failed_logins,
  (extract(epoch from app_now() - u.last_failed_login_at) * 1000)::float8 as since_failure_ms,
  u.first_login_at is null as is_first_login,
  array(select g.role from user_group_members m join user_groups g on g.name = m.group_name where m.user_id = u.id
    union all select role from provider_roles where user_id = u.id) as group_roles,
  coalesce((select jsonb_agg(jsonb_build_object('tenant', r.tenant, 'role', r.role)) from (
      select tenant, role from tenant_users where user_id = u.id and ($3 or tenant = $2)
      union all
      select tg.tenant, tg.role from user_group_members m join tenant_groups tg using (group_name)
      where m.user_id = u.id and ($3 or tg.tenant = $2)
      union all
      select tenant, role from provider_tenants where user_id = u.id and ($3 or tenant = $2)) r), '[]') as tenant_roles,
  (select provider from provider_users where user_id = u.id) as provider,
  (select (extract(epoch from next_check_at - app_now()) * 1000)::float8 from provider_users where user_id = u.id) as check_in_ms,
  exists (select from service_accounts where user_id = u.id) as is_service,
  exists (select from tenants where name = $2 and closing_since is null) as is_tenant_there,
  (select revision from authorization_state) as revision,
  app_now() as now`;

const msUntil = (instant: string): string => `(extract(epoch from ${instant} - app_now()) * 1000)::float8`;

const byName = {
  name: 'login-by-name',
  text: `select ${rights} from users u where lower(u.username) = lower($1)`,
};
const byToken = {
  name: 'login-by-token',
  text: `select ${rights}, t.secret_hash, coalesce(t.expiration_date <= app_now(), false) as is_expired,
      ${msUntil('t.expiration_date')} as ends_in_ms
    from tokens t join users u on u.id = t.user_id where t.id = $1`,
};

const bySession = {
  name: 'login-by-session',
  text: `select ${rights}, s.secret_hash,
      s.expires_at <= app_now() or s.last_used_at <= app_now() - $4::float8 * interval '1 millisecond' as is_expired,
      least(${msUntil('s.expires_at')}, ${msUntil('s.last_used_at')} + $4::float8) as ends_in_ms
    from sessions s join users u on u.id = s.user_id where s.id = $1`,
};
const byCode = {
  name: 'login-by-code',
  text: `select ${rights}, c.secret_hash, c.expires_at <= app_now() as is_expired, null::float8 as ends_in_ms
    from sign_in_codes c join users u on u.id = c.user_id where c.id = $1`,
};

/**
 * Finds the user called `username` (any letter case) with the fields that decide about the rights in `tenant`, or in all tenants.
 */
export async function findLoginByName(
  db: Db<Tables>,
  username: string,
  tenant: string,
  allTenants: boolean,
): Promise<LoginRow | undefined> {
  return (await prepared<LoginRow>(db, byName, [username, tenant, allTenants]))[0];
}

/** Like `findLoginByName`, for the owner of token `tokenId`; also returns the hash to compare. */
export async function findLoginByToken(
  db: Db<Tables>,
  tokenId: string,
  tenant: string,
  allTenants: boolean,
): Promise<TokenLoginRow | undefined> {
  return (await prepared<TokenLoginRow>(db, byToken, [tokenId, tenant, allTenants]))[0];
}

/** Like `findLoginByToken`, for the owner of a session; the session has also expired when it was not used for `idleMs`. */
export async function findLoginBySession(
  db: Db<Tables>,
  sessionId: string,
  scope: { tenant: string; allTenants: boolean },
  idleMs: number,
): Promise<TokenLoginRow | undefined> {
  return (
    await prepared<TokenLoginRow>(db, bySession, [sessionId, scope.tenant, scope.allTenants, idleMs])
  )[0];
}

/** Like `findLoginByToken`, for the user of a sign-in link's code, in no tenant. */
export async function findLoginByCode(db: Db<Tables>, codeId: string): Promise<TokenLoginRow | undefined> {
  return (await prepared<TokenLoginRow>(db, byCode, [codeId, '', false]))[0];
}

const failure = {
  name: 'login-failed',
  text: `with quick as (select set_config('synchronous_commit', 'off', true))
    update users set failed_logins = failed_logins + 1, last_failed_login_at = app_now() from quick where id = $1`,
};

/**
 * Counts a wrong password. Does not wait for the disk: an unknown user name has no such wait, so the time would show that the user
 * exists. A crash of PostgreSQL loses the failures of its last half second.
 */
export async function countFailedLogin(db: Db<Tables>, userId: number): Promise<void> {
  await prepared(db, failure, [userId]);
}

const success = {
  name: 'login-succeeded',
  text: `update users set failed_logins = 0, last_login_at = app_now(), first_login_at = coalesce(first_login_at, app_now())
    where id = $1`,
};

/** Records a login with a good password, and resets the counter of failures. */
export async function recordLogin(db: Db<Tables>, userId: number): Promise<void> {
  await prepared(db, success, [userId]);
}

/** Replaces a hash, unless the user has another one by now; returns the hash that the user has then, null for a user who is gone. */
export async function replacePasswordHash(
  db: Db<Tables>,
  userId: number,
  from: string,
  to: string,
): Promise<string | null> {
  const { rows } = await db.pool.query<{ password_hash: string }>(
    `update users set password_hash = case when password_hash = $2 then $3 else password_hash end
     where id = $1 returning password_hash`,
    [userId, from, to],
  );
  return rows[0]?.password_hash ?? null;
}

/** Latest uses by id, as instants of the database clock. */
export interface Uses {
  tokens: ReadonlyMap<string, string>;
  sessions: ReadonlyMap<string, string>;
  logins: ReadonlyMap<number, string>;
}

/** Stores the latest use of tokens and sessions, and the latest login of users; never replaces a later time by an earlier one. */
export async function recordActivity(db: Db<Tables>, { tokens, sessions, logins }: Uses): Promise<void> {
  if (tokens.size > 0) {
    await db.pool.query(
      `update tokens t set last_used = v.at from unnest($1::text[], $2::timestamptz[]) as v (id, at)
        where t.id = v.id and (t.last_used is null or t.last_used < v.at)`,
      [[...tokens.keys()], [...tokens.values()]],
    );
  }
  if (sessions.size > 0) {
    await db.pool.query(
      `update sessions s set last_used_at = v.at from unnest($1::text[], $2::timestamptz[]) as v (id, at)
        where s.id = v.id and s.last_used_at < v.at`,
      [[...sessions.keys()], [...sessions.values()]],
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
