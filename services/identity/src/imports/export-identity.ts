import { type ExportWanted, type ImportClient, sealForBundle } from '@baton/import-part';
import type { JsonObject } from '@baton/kernel';
import type { OldPasswords } from '../adapters/old-passwords';
import { bootstrapAdminId } from '../domain/principal';

interface UserRow extends JsonObject {
  username: string;
  password_hash: string;
}

/**
 * A tenant with the users and groups that have a role in it, their hashes, and the permissions of roles. Users of identity providers
 * and service accounts come without hashes: they have no password. A bundle of one deployment has only the tenant.
 */
export async function* exportIdentity(
  client: ImportClient,
  wanted: ExportWanted,
  old: OldPasswords,
): AsyncGenerator<{ type: string; items: JsonObject[] }, void, void> {
  yield { type: 'tenants', items: [{ name: wanted.tenant }] };
  if (wanted.deploymentId !== '') return;
  const { rows: permissions } = await client.query<JsonObject>(
    'select role, permission from role_permissions order by role, permission',
  );
  yield { type: 'permissions', items: permissions };
  const { rows: groups } = await client.query<JsonObject>(
    `select g.name, g.ldap_dn, g.role, jsonb_build_object($1::text, tg.role) as tenants
     from user_groups g join tenant_groups tg on tg.group_name = g.name and tg.tenant = $1 order by g.name`,
    [wanted.tenant],
  );
  yield { type: 'user_groups', items: groups };
  const { rows: users } = await client.query<UserRow>(USERS, [wanted.tenant, bootstrapAdminId]);
  yield { type: 'users', items: users.map((user) => withPassword(user, wanted, old)) };
}

const USERS = `
  select u.username, u.role, u.active as is_active, u.created_at, u.first_login_at, u.last_login_at, u.show_getting_started,
    coalesce((select jsonb_object_agg(t.tenant, t.role) from tenant_users t where t.user_id = u.id and t.tenant = $1), '{}') as tenants,
    array(select m.group_name from user_group_members m join tenant_groups tg on tg.group_name = m.group_name and tg.tenant = $1
      where m.user_id = u.id order by 1) as groups,
    case when exists (select from provider_users p where p.user_id = u.id)
      or exists (select from service_accounts s where s.user_id = u.id) then '' else u.password_hash end as password_hash
  from users u
  where u.id <> $2 and (exists (select from tenant_users t where t.user_id = u.id and t.tenant = $1)
    or exists (select from user_group_members m join tenant_groups tg on tg.group_name = m.group_name and tg.tenant = $1
      where m.user_id = u.id))
  order by u.username`;

/** The common salt of imported users travels only under the key of the bundle. */
function withPassword(user: UserRow, { bundleKey }: ExportWanted, old: OldPasswords): JsonObject {
  const opened = old.open(user.password_hash);
  if (!opened) return { ...user, password_hash: user.password_hash || null };
  const salt = opened.commonSalt.expose();
  return {
    ...user,
    password_hash: opened.hash,
    ...(bundleKey === ''
      ? {}
      : {
          sealed: {
            password_salt: sealForBundle(bundleKey, ['users', user.username, 'password_salt'], salt),
          },
        }),
  };
}
