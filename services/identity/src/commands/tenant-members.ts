import { AppError, notFound } from '@baton/kernel';
import type { Db, Tx } from '@baton/postgres';
import { defaultTenantRole, requireRole } from '../domain/roles';
import { listRoles } from '../store/authorization.sql';
import type { DB as Tables } from '../store/tables.gen';
import { deleteMember, findTenant, insertMember, type MemberKey, updateMember } from '../store/tenants.sql';
import { findGroup } from '../store/user-groups.sql';
import { lockUser } from '../store/users.sql';
import { announceChange } from './announce';

interface Deps {
  db: Db<Tables>;
}
/** A user or a user group, by name. */
export type Member = { username: string } | { groupName: string };

interface Found {
  label: string;
  /** User whose principals change; empty for a group: all principals are forgotten. */
  username: string;
  member: MemberKey;
}

/**
 * Adds a user or group to the tenant. An empty role means `user`.
 * @throws AppError not_found_error; bad_parameters_error; conflict_error for a member.
 */
export async function addTenantMember(
  deps: Deps,
  tenant: string,
  who: Member,
  roleName: string,
): Promise<void> {
  const role = await tenantRole(deps, roleName);
  await deps.db.tx(async (tx) => {
    const found = await find(tx, tenant, who);
    if (!(await insertMember(tx, tenant, found.member, role))) {
      throw new AppError('conflict_error', `${found.label} already belongs to tenant \`${tenant}\``);
    }
    await announceChange(tx, found.username);
  });
}

/** Changes a member's role. @throws AppError not_found_error, also when `who` is not a member; bad_parameters_error. */
export async function updateTenantMember(
  deps: Deps,
  tenant: string,
  who: Member,
  roleName: string,
): Promise<void> {
  const role = await tenantRole(deps, roleName);
  await deps.db.tx(async (tx) => {
    const found = await find(tx, tenant, who);
    if (!(await updateMember(tx, tenant, found.member, role))) throw noMember(found, tenant);
    await announceChange(tx, found.username);
  });
}

/** Removes a member. @throws AppError not_found_error, also when `who` is not a member. */
export async function removeTenantMember(deps: Deps, tenant: string, who: Member): Promise<void> {
  await deps.db.tx(async (tx) => {
    const found = await find(tx, tenant, who);
    if (!(await deleteMember(tx, tenant, found.member))) throw noMember(found, tenant);
    await announceChange(tx, found.username);
  });
}

async function tenantRole(deps: Deps, name: string): Promise<string> {
  return requireRole(await listRoles(deps.db.query), name === '' ? defaultTenantRole : name, 'tenant_role')
    .name;
}

async function find(tx: Tx<Tables>, tenant: string, who: Member): Promise<Found> {
  if (!(await findTenant(tx, tenant))) throw notFound('Tenant', tenant);
  if ('username' in who) {
    const user = await lockUser(tx, who.username);
    if (!user) throw notFound('User', who.username);
    return { label: `User \`${user.username}\``, username: user.username, member: { user_id: user.id } };
  }
  if (!(await findGroup(tx, who.groupName))) throw notFound('UserGroup', who.groupName);
  return { label: `User group \`${who.groupName}\``, username: '', member: { group_name: who.groupName } };
}

function noMember(found: Found, tenant: string): AppError {
  return new AppError('not_found_error', `${found.label} does not belong to tenant \`${tenant}\``);
}
