import { userGroupsRoutes } from '@baton/contracts/http/user-groups';
import { type BoundRoute, bindRoutes, listEnvelope } from '@baton/http';
import type { Db } from '@baton/postgres';
import {
  addUserToGroup,
  changeGroupRole,
  createUserGroup,
  removeUserFromGroup,
  removeUserGroup,
} from '../commands/user-groups';
import { getUserGroup, listUserGroups } from '../queries/user-groups';
import type { DB as Tables } from '../store/tables.gen';

export function userGroupsHttp(deps: { db: Db<Tables> }): BoundRoute[] {
  return bindRoutes(userGroupsRoutes, {
    listUserGroups: async (call) =>
      listEnvelope(await listUserGroups(deps, call.list, call.query._get_data === true), call.list),
    createUserGroup: async (call) => {
      const { group_name: name, ldap_group_dn: ldapDn, role } = call.body;
      await createUserGroup(deps, { name, ldapDn, role });
      return getUserGroup(deps, name, false);
    },
    getUserGroup: (call) => getUserGroup(deps, call.params.group_name!, call.query._get_data === true),
    updateUserGroup: async (call) => {
      await changeGroupRole(deps, call.params.group_name!, call.body.role);
      return getUserGroup(deps, call.params.group_name!, false);
    },
    deleteUserGroup: async (call) => {
      await removeUserGroup(deps, call.params.group_name!);
    },
    addUserToGroup: async (call) => {
      await addUserToGroup(deps, call.body.group_name, call.body.username);
      return getUserGroup(deps, call.body.group_name, false);
    },
    removeUserFromGroup: async (call) => {
      await removeUserFromGroup(deps, call.body.group_name, call.body.username);
    },
  });
}
