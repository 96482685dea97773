import { type Cli, noun, option, required } from '../layer/define';
import { callCommand, deleteCommand, getCommand, listCommand } from '../layer/resource';

const SHOWN = { columns: ['name', 'role', 'users', 'tenants', 'ldap_dn'], name: 'name' };

export function userGroupCommands(cli: Cli): void {
  const groups = noun(cli, 'user-groups', {
    alias: 'user-group',
    about: 'groups of users',
    examples: ['user-groups create operators', 'user-groups add-user alice -g operators'],
  });
  listCommand(cli, groups, { ...SHOWN, operation: 'listUserGroups', about: 'list user groups' });
  getCommand(cli, groups, {
    ...SHOWN,
    operation: 'getUserGroup',
    param: 'group_name',
    argument: '<name>',
    about: 'show a user group with its users and tenants',
    query: { _get_data: true },
  });
  callCommand(cli, groups, {
    name: 'create <name>',
    about: 'create a user group',
    operation: 'createUserGroup',
    options: [
      option('-r, --security-role <role>', 'role in the whole manager', 'default'),
      option('-l, --ldap-distinguished-name <dn>', 'group in a directory'),
    ],
    request: ([group_name], o) => ({
      body: { group_name, role: o.securityRole, ldap_group_dn: o.ldapDistinguishedName },
    }),
    done: ([name]) => `User group ${name} created.`,
  });
  callCommand(cli, groups, {
    name: 'set-role <name> <role>',
    about: 'change the role in the whole manager',
    operation: 'updateUserGroup',
    request: ([group_name, role]) => ({ params: { group_name }, body: { role } }),
    done: ([name, role]) => `Role of user group ${name} is ${role}.`,
  });
  deleteCommand(cli, groups, {
    operation: 'deleteUserGroup',
    param: 'group_name',
    argument: '<name>',
    about: 'delete a user group',
    kind: 'User group',
  });
  const ofGroup = () => required('-g, --user-group-name <name>', 'user group');
  callCommand(cli, groups, {
    name: 'add-user <username>',
    about: 'add a user to a group',
    operation: 'addUserToGroup',
    options: [ofGroup()],
    request: ([username], o) => ({ body: { username, group_name: o.userGroupName } }),
    done: ([username], { name }) => `User ${username} added to group ${name}.`,
  });
  callCommand(cli, groups, {
    name: 'remove-user <username>',
    about: 'remove a user from a group',
    operation: 'removeUserFromGroup',
    options: [ofGroup()],
    request: ([username], o) => ({ body: { username, group_name: o.userGroupName } }),
    done: ([username]) => `User ${username} removed from the group.`,
  });
}
