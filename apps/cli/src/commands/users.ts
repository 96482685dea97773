import type { Command } from 'commander';
import type { CliIo } from '../cli-io';
import { UsageFailure } from '../failure';
import { type Cli, command, noun, type Options, option } from '../layer/define';
import { callCommand, deleteCommand, getCommand, listCommand } from '../layer/resource';
import { secretText } from '../prompt';

const SHOWN = {
  columns: ['username', 'role', 'active', 'is_locked', 'groups', 'tenants', 'last_login_at'],
  wide: ['created_at', 'first_login_at'],
  name: 'username',
};

/** `baton users ...`. A password is never an answer of the manager. */
export function userCommands(cli: Cli): void {
  const users = noun(cli, 'users', {
    alias: 'user',
    about: 'users of the manager',
    examples: [
      'users create alice --password-file password.txt',
      'users set-role alice sys_admin',
      'users me',
    ],
  });
  listCommand(cli, users, { ...SHOWN, operation: 'listUsers', about: 'list users' });
  getCommand(cli, users, {
    ...SHOWN,
    operation: 'getUser',
    param: 'username',
    argument: '<username>',
    about: 'show a user with groups, tenants and roles',
    query: { _get_data: true },
    more: ['tenant_roles', 'group_system_roles'],
  });
  writeCommands(cli, users);
  stateCommands(cli, users);
  deleteCommand(cli, users, {
    operation: 'deleteUser',
    param: 'username',
    argument: '<username>',
    about: 'delete a user',
    kind: 'User',
  });
  ownCommands(cli, users);
}

const passwordOptions = () => [
  option('-p, --user-password <password>', 'password; it stays in the history of the shell, a file does not'),
  option('--password-file <path>', 'file that holds the password; - = standard input'),
];

const passwordOf = (io: CliIo, username: string, { userPassword, passwordFile }: Options): Promise<string> =>
  secretText(io, {
    value: userPassword,
    file: passwordFile,
    label: `Password of user ${username}`,
    options: '--user-password or --password-file',
  });

function writeCommands(cli: Cli, users: Command): void {
  command(cli, users, {
    name: 'create <username>',
    about: 'create a user; without an option its password is asked for, without echo',
    uses: ['createUser'],
    options: [
      ...passwordOptions(),
      option('-r, --security-role <role>', 'role in the whole manager', 'default'),
    ],
    run: async ({ args: [username], options, client, out, io }) => {
      const password = await passwordOf(io, username, options);
      const user = await client.call('createUser', {
        body: { username, password, role: options.securityRole },
      });
      out.done(`User ${username} created.`, user, SHOWN);
    },
  });
  command(cli, users, {
    name: 'set-password <username>',
    about: 'change the password of a user',
    uses: ['updateUser'],
    options: passwordOptions(),
    run: async ({ args: [username], options, client, out, io }) => {
      const password = await passwordOf(io, username, options);
      const user = await client.call('updateUser', { params: { username }, body: { password } });
      out.done(`Password of user ${username} changed.`, user, SHOWN);
    },
  });
  callCommand(cli, users, {
    name: 'set-role <username> <role>',
    about: 'change the role in the whole manager',
    operation: 'updateUser',
    request: ([username, role]) => ({ params: { username }, body: { role } }),
    done: ([username, role]) => `Role of user ${username} is ${role}.`,
  });
  callCommand(cli, users, {
    name: 'set-getting-started <username> <on|off>',
    about: 'whether the console shows how to begin',
    operation: 'updateUser',
    request: ([username, state]) => {
      if (state !== 'on' && state !== 'off') throw new UsageFailure(`${state}: expected on or off`);
      return { params: { username }, body: { show_getting_started: state === 'on' } };
    },
    done: ([username, state]) => `Getting started of user ${username} is ${state}.`,
  });
}

function stateCommands(cli: Cli, users: Command): void {
  for (const [action, text] of [
    ['activate', 'let a user in again'],
    ['deactivate', 'keep a user out'],
  ] as const) {
    callCommand(cli, users, {
      name: `${action} <username>`,
      about: text,
      operation: 'activateUser',
      request: ([username]) => ({ params: { username }, body: { action } }),
      done: ([username]) => `User ${username} is ${action}d.`,
    });
  }
  callCommand(cli, users, {
    name: 'unlock <username>',
    about: 'unlock a user after failed logins',
    operation: 'unlockUser',
    request: ([username]) => ({ params: { username } }),
    done: ([username]) => `User ${username} is unlocked.`,
  });
}

function ownCommands(cli: Cli, users: Command): void {
  callCommand(cli, users, {
    name: 'me',
    about: 'show who you are',
    operation: 'getCurrentUser',
    request: () => ({ query: { _get_data: true } }),
  });
  callCommand(cli, users, {
    name: 'access <username>',
    about: 'show the roles of a user in each tenant, and where each comes from',
    operation: 'getUserAccess',
    request: ([username]) => ({ params: { username } }),
  });
  callCommand(cli, users, {
    name: 'permissions',
    about: 'show what you may do in the tenant',
    operation: 'getOwnPermissions',
  });
  callCommand(cli, users, {
    name: 'source',
    about: 'show where users come from',
    operation: 'getIdentityProvider',
    done: (_args, answer) => `Users come from: ${answer}.`,
  });
  callCommand(cli, users, {
    name: 'directory',
    about: 'show whether users are taken from a directory (LDAP)',
    operation: 'getLdap',
    done: (_args, answer) => `Directory: ${answer}.`,
  });
}
