import type { Tx } from '@baton/postgres';
import type { Kysely } from 'kysely';
import { model } from './model';
import type { DB as Tables } from './tables.gen';

type Reader = Kysely<Tables> | Tx<Tables>;

export async function findGroup(
  db: Reader,
  name: string,
): Promise<{ name: string; role: string } | undefined> {
  const found = await model.over(db, (p) =>
    p.userGroup.findUnique({ select: { name: true, role: true }, where: { name } }),
  );
  return found ?? undefined;
}

/** @throws unique violation of user_groups_name_key or user_groups_ldap_dn_key. */
export async function insertGroup(
  tx: Tx<Tables>,
  row: { name: string; ldap_dn: string | null; role: string },
): Promise<void> {
  await model.over(tx, (p) => p.userGroup.create({ select: { name: true }, data: row }));
}

/** Updates the group's role; returns false when there is no such group. */
export async function updateGroupRole(tx: Tx<Tables>, name: string, role: string): Promise<boolean> {
  const { count } = await model.over(tx, (p) => p.userGroup.updateMany({ where: { name }, data: { role } }));
  return count > 0;
}

/** Deletes a group, together with its memberships and tenant roles. Returns false when there is no such group. */
export async function deleteGroup(tx: Tx<Tables>, name: string): Promise<boolean> {
  const { count } = await model.over(tx, (p) => p.userGroup.deleteMany({ where: { name } }));
  return count > 0;
}

/** Adds a user to a group; returns false when the user is in the group already. */
export async function insertGroupMember(tx: Tx<Tables>, group: string, userId: number): Promise<boolean> {
  const data = { group_name: group, user_id: userId };
  const { count } = await model.over(tx, (p) => p.userGroupMember.createMany({ data, skipDuplicates: true }));
  return count > 0;
}

/** Removes a user from a group; returns false when the user is not in the group. */
export async function deleteGroupMember(tx: Tx<Tables>, group: string, userId: number): Promise<boolean> {
  const where = { group_name: group, user_id: userId };
  const { count } = await model.over(tx, (p) => p.userGroupMember.deleteMany({ where }));
  return count > 0;
}
