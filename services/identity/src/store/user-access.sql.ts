import type { Db } from '@baton/postgres';
import { sql } from 'kysely';
import type { DB as Tables } from './tables.gen';

/** One way in which a user has a role. `tenant`: null for a system role. `name`: user group or provider. */
export interface GrantRow {
  tenant: string | null;
  role: string;
  kind: 'user' | 'group' | 'provider';
  name: string | null;
}

export interface AccessRow {
  id: number;
  username: string;
  active: boolean;
  is_service: boolean;
  provider: string | null;
  subject: string | null;
  provider_groups: string[];
  grants: GrantRow[];
  /** Revision of the permission table. */
  revision: number;
}

const grants = sql`
  select null as tenant, u.role, 'user' as kind, null as name
  union all select null, g.role, 'group', g.name
    from user_group_members m join user_groups g on g.name = m.group_name where m.user_id = u.id
  union all select null, r.role, 'provider', pu.provider from provider_roles r where r.user_id = u.id
  union all select tenant, role, 'user', null from tenant_users where user_id = u.id
  union all select tg.tenant, tg.role, 'group', tg.group_name
    from user_group_members m join tenant_groups tg using (group_name) where m.user_id = u.id
  union all select t.tenant, t.role, 'provider', pu.provider from provider_tenants t where t.user_id = u.id`;

/** Reads a user, in any letter case, with every way in which it has a role; undefined: no such user. */
export async function readAccess(db: Db<Tables>['query'], username: string): Promise<AccessRow | undefined> {
  const { rows } = await sql<AccessRow>`
    select u.id, u.username, u.active, pu.provider, pu.subject,
      exists (select from service_accounts where user_id = u.id) as is_service,
      coalesce(to_jsonb(pu.groups), '[]') as provider_groups,
      (select jsonb_agg(to_jsonb(g) order by g.kind, g.name) from (${grants}) g) as grants,
      (select revision from authorization_state) as revision
    from users u left join provider_users pu on pu.user_id = u.id
    where lower(u.username) = lower(${username})`.execute(db);
  return rows[0];
}
