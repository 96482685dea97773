import type { Principal } from '@baton/contracts';
import type { OwnPermissionsAnswer } from '@baton/contracts/http/own-user';
import type { Db } from '@baton/postgres';
import { isConsolePermission } from '../domain/permissions';
import type { DB as Tables } from '../store/tables.gen';
import { getAuthorization } from './permissions';

/**
 * Returns the caller's permissions in the tenant of the request, by the rights of the credential: the code of an execution has
 * fewer than its starter. The first administrator passes every check and so has every permission.
 */
export async function ownPermissions(
  deps: { db: Db<Tables> },
  { username, tenant, roles, permissions, isBootstrapAdmin }: Principal,
): Promise<OwnPermissionsAnswer> {
  const held = isBootstrapAdmin ? await everyPermission(deps) : permissions;
  return { username, tenant, roles: [...roles].sort(), permissions: [...held].sort() };
}

async function everyPermission(deps: { db: Db<Tables> }): Promise<string[]> {
  const { permissions } = await getAuthorization(deps);
  return permissions.map(({ permission }) => permission).filter((name) => !isConsolePermission(name));
}
