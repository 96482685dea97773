import type { Tx } from '@baton/postgres';
import { type Kysely, sql } from 'kysely';
import type { DB as Tables } from './tables.gen';

type Reader = Kysely<Tables> | Tx<Tables>;

export async function findGroup(
  db: Reader,
  name: string,
): Promise<{ name: string; role: string } | undefined> {
  return db.selectFrom('user_groups').select(['name', 'role']).where('name', '=', name).executeTakeFirst();
}

/** @throws unique violation of user_groups_name_key or user_groups_ldap_dn_key. */
export async function insertGroup(
  tx: Tx<Tables>,
  row: { name: string; ldap_dn: string | null; role: string },
): Promise<void> {
  await tx.insertInto('user_groups').values(row).execute();
}

/** False when there is no such group. */
export async function updateGroupRole(tx: Tx<Tables>, name: string, role: string): Promise<boolean> {
  const result = await tx
    .updateTable('user_groups')
    .set({ role })
    .where('name', '=', name)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Memberships and tenant roles of the group go with it. False when there is no such group. */
export async function deleteGroup(tx: Tx<Tables>, name: string): Promise<boolean> {
  const result = await tx.deleteFrom('user_groups').where('name', '=', name).executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/** False when the user is in the group already. */
export async function insertGroupMember(tx: Tx<Tables>, group: string, userId: number): Promise<boolean> {
  const result = await sql`insert into user_group_members (group_name, user_id) values (${group}, ${userId})
    on conflict do nothing`.execute(tx);
  return (result.numAffectedRows ?? 0n) > 0n;
}

/** False when the user is not in the group. */
export async function deleteGroupMember(tx: Tx<Tables>, group: string, userId: number): Promise<boolean> {
  const result = await tx
    .deleteFrom('user_group_members')
    .where('group_name', '=', group)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return result.numDeletedRows > 0n;
}
