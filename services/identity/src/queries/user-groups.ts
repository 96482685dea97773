import type { ListPage, ListQuery } from '@baton/contracts';
import type { UserGroupAnswer } from '@baton/contracts/http/user-groups';
import { notFound } from '@baton/kernel';
import { type Db, selectFields, selectPage } from '@baton/postgres';
import { type RawBuilder, sql } from 'kysely';
import type { DB as Tables } from '../store/tables.gen';
import { anyCase } from './users';

interface Deps {
  db: Db<Tables>;
}

function columnsOf(getData: boolean): Record<keyof UserGroupAnswer, RawBuilder<unknown>> {
  return {
    name: sql`g.name`,
    ldap_dn: sql`g.ldap_dn`,
    role: sql`g.role`,
    tenants: getData
      ? sql`coalesce((select jsonb_object_agg(tenant, role) from tenant_groups where group_name = g.name), '{}')`
      : sql`(select count(*) from tenant_groups where group_name = g.name)`,
    users: getData
      ? sql`coalesce((select jsonb_agg(u.username order by u.username) from user_group_members m join users u on u.id = m.user_id
          where m.group_name = g.name), '[]')`
      : sql`(select count(*) from user_group_members where group_name = g.name)`,
  };
}

export async function listUserGroups(
  deps: Deps,
  list: ListQuery,
  getData: boolean,
): Promise<ListPage<UserGroupAnswer>> {
  return selectPage<UserGroupAnswer>({
    db: deps.db.query,
    from: sql`user_groups g`,
    columns: columnsOf(getData),
    list,
    search: sql`g.name`,
    filters: { name: anyCase(sql`g.name`), ldap_dn: anyCase(sql`g.ldap_dn`) },
    tieBreak: sql`g.created_at, g.name`,
  });
}

/** @throws AppError not_found_error */
export async function getUserGroup(deps: Deps, name: string, getData: boolean): Promise<UserGroupAnswer> {
  const columns = selectFields(columnsOf(getData));
  const { rows } =
    await sql<UserGroupAnswer>`select ${columns} from user_groups g where g.name = ${name}`.execute(
      deps.db.query,
    );
  if (!rows[0]) throw notFound('UserGroup', name);
  return rows[0];
}
