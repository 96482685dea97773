/** Statements of the import of users. */
import type { ImportClient, ImportContext } from '@baton/import-part';

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

/** Users that have one of these names in any letter case, by their name in small letters. An apply locks them until its end. */
export async function usersHere(
  { client, isRehearsal }: Pick<ImportContext, 'client' | 'isRehearsal'>,
  names: readonly string[],
): Promise<Map<string, UserHere>> {
  const { rows } = await client.query<UserHere>(
    `select u.id, u.username, u.role, u.active,
       coalesce((select jsonb_object_agg(t.tenant, t.role) from tenant_users t where t.user_id = u.id), '{}') as tenants,
       array(select group_name from user_group_members m where m.user_id = u.id order by 1) as groups,
       exists (select from provider_users p where p.user_id = u.id)
         or exists (select from service_accounts s where s.user_id = u.id) as "isMapped"
     from users u where lower(u.username) = any($1::text[]) ${isRehearsal ? '' : 'for no key update of u'}`,
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

/** Makes users, with their roles in tenants and their memberships. */
export async function insertUsers(client: ImportClient, users: readonly ImportedUser[]): Promise<void> {
  if (users.length === 0) return;
  const rows = JSON.stringify(users);
  await client.query(
    `insert into users (username, password_hash, role, active, created_at, first_login_at, last_login_at, show_getting_started)
     select username, password_hash, role, active, coalesce(created_at, app_now()), first_login_at, last_login_at, show_getting_started
     from json_to_recordset($1::json) as r (username text, password_hash text, role text, active boolean, created_at timestamptz,
       first_login_at timestamptz, last_login_at timestamptz, show_getting_started boolean)`,
    [rows],
  );
  await client.query(
    `insert into tenant_users (user_id, tenant, role) select u.id, t.key, t.value
     from json_to_recordset($1::json) as r (username text, tenants json) join users u using (username), json_each_text(r.tenants) t`,
    [rows],
  );
  await client.query(
    `insert into user_group_members (user_id, group_name) select u.id, g.value
     from json_to_recordset($1::json) as r (username text, groups json) join users u using (username), json_array_elements_text(r.groups) g
     on conflict do nothing`,
    [rows],
  );
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
