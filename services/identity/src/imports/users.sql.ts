/** Statements of the import of users. */
import type { ImportClient } from '@baton/import-part';

export interface UserHere {
  id: number;
  username: string;
  role: string;
  active: boolean;
  tenants: Record<string, string>;
  groups: string[];
  /** A user of an identity provider, or a service account. */
  isMapped: boolean;
}

/** Users that have one of these names in any letter case, by their name in small letters; locked until the end. */
export async function usersHere(
  client: ImportClient,
  names: readonly string[],
): Promise<Map<string, UserHere>> {
  const { rows } = await client.query<UserHere>(
    `select u.id, u.username, u.role, u.active,
       coalesce((select jsonb_object_agg(t.tenant, t.role) from tenant_users t where t.user_id = u.id), '{}') as tenants,
       array(select group_name from user_group_members m where m.user_id = u.id order by 1) as groups,
       exists (select from provider_users p where p.user_id = u.id)
         or exists (select from service_accounts s where s.user_id = u.id) as "isMapped"
     from users u where lower(u.username) = any($1::text[]) for update of u`,
    [names.map((name) => name.toLowerCase())],
  );
  return new Map(rows.map((row) => [row.username.toLowerCase(), row]));
}

export interface ImportedUser {
  username: string;
  role: string;
  active: boolean;
  tenants: Record<string, string>;
  groups: string[];
  password_hash: string;
  created_at?: string | null;
  first_login_at?: string | null;
  last_login_at?: string | null;
  show_getting_started: boolean;
}

export async function insertUser(client: ImportClient, user: ImportedUser): Promise<void> {
  const { rows } = await client.query<{ id: number }>(
    `insert into users (username, password_hash, role, active, created_at, first_login_at, last_login_at, show_getting_started)
     values ($1, $2, $3, $4, coalesce($5::timestamptz, app_now()), $6, $7, $8) returning id`,
    [
      user.username,
      user.password_hash,
      user.role,
      user.active,
      user.created_at ?? null,
      user.first_login_at ?? null,
      user.last_login_at ?? null,
      user.show_getting_started,
    ],
  );
  await addRights(client, rows[0]!.id, user);
}

/** Gives role and state of the archive; the password stays. */
export async function updateUser(
  client: ImportClient,
  id: number,
  user: Pick<UserHere, 'role' | 'active' | 'tenants' | 'groups'>,
): Promise<void> {
  await client.query('update users set role = $2, active = $3 where id = $1', [id, user.role, user.active]);
  await addRights(client, id, user);
}

/** Adds roles in tenants and memberships; what the user has besides stays. */
export async function addRights(
  client: ImportClient,
  id: number,
  { tenants, groups }: Pick<UserHere, 'tenants' | 'groups'>,
): Promise<void> {
  await client.query(
    `insert into tenant_users (user_id, tenant, role) select $1, t.* from unnest($2::text[], $3::text[]) t
     on conflict (user_id, tenant) do update set role = excluded.role`,
    [id, Object.keys(tenants), Object.values(tenants)],
  );
  await client.query(
    'insert into user_group_members (user_id, group_name) select $1, unnest($2::text[]) on conflict do nothing',
    [id, groups],
  );
}
