import { type Cli, command, noun, option } from '../layer/define';
import { callCommand, deleteCommand, getCommand, listCommand } from '../layer/resource';

const TOKEN = {
  columns: ['id', 'username', 'role', 'description', 'expiration_date', 'last_used'],
  wide: ['value'],
};

/** Tokens, roles and permissions. */
export function accessCommands(cli: Cli): void {
  tokenCommands(cli);
  const roles = noun(cli, 'roles', {
    alias: 'role',
    about: 'roles of the manager',
    examples: ['roles list'],
  });
  listCommand(cli, roles, {
    columns: ['name', 'type', 'description'],
    wide: ['id'],
    name: 'name',
    operation: 'listRoles',
    about: 'list roles',
  });
  permissionCommands(cli);
}

function tokenCommands(cli: Cli): void {
  const tokens = noun(cli, 'tokens', {
    alias: 'token',
    about: 'tokens that stand for a user',
    examples: ['tokens create --description ci --expiration-date +30d', 'tokens delete k3J...'],
  });
  listCommand(cli, tokens, { ...TOKEN, operation: 'listTokens', about: 'list tokens, their secret masked' });
  getCommand(cli, tokens, {
    ...TOKEN,
    operation: 'getToken',
    param: 'token_id',
    about: 'show a token, its secret masked',
  });
  command(cli, tokens, {
    name: 'create',
    about: 'create a token; only now its value is shown',
    uses: ['createToken'],
    options: [
      option('--description <text>', 'what it is for'),
      option('--expiration-date <time>', 'end of its life: a time, or +30d, +12h, ...'),
    ],
    run: async ({ options, client, out }) => {
      const body = { description: options.description, expiration_date: options.expirationDate };
      const token = await client.call('createToken', { body });
      out.record(token, ['id', 'value', 'username', 'role', 'description', 'expiration_date']);
    },
  });
  deleteCommand(cli, tokens, {
    operation: 'deleteToken',
    param: 'token_id',
    about: 'revoke a token',
    kind: 'Token',
  });
}

function permissionCommands(cli: Cli): void {
  const permissions = noun(cli, 'permissions', {
    alias: 'permission',
    about: 'which role holds which permission (administrators)',
    examples: ['permissions of viewer', 'permissions grant viewer secret_list'],
  });
  const shown = { columns: ['role', 'permission'], name: 'permission' };
  listCommand(cli, permissions, {
    ...shown,
    operation: 'listPermissions',
    about: 'list all permissions by role',
  });
  listCommand(cli, permissions, {
    ...shown,
    operation: 'listRolePermissions',
    command: 'of <role>',
    param: 'role_name',
    about: 'list the permissions of one role',
  });
  callCommand(cli, permissions, {
    name: 'grant <role> <permission>',
    about: 'grant a permission to a role',
    operation: 'grantPermission',
    request: ([role_name, permission_name]) => ({ params: { role_name, permission_name } }),
    done: ([role, permission]) => `Role ${role} holds ${permission}.`,
  });
  callCommand(cli, permissions, {
    name: 'revoke <role> <permission>',
    about: 'take a permission from a role',
    operation: 'revokePermission',
    request: ([role_name, permission_name]) => ({ params: { role_name, permission_name } }),
    done: ([role, permission]) => `Role ${role} does not hold ${permission} any more.`,
  });
}
