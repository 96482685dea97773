import type { Command } from 'commander';
import { collectValues } from '../key-values';
import { type Cli, command, noun, option, repeated, required } from '../layer/define';
import { callCommand, deleteCommand, getCommand } from '../layer/resource';
import { secretText } from '../prompt';

const SHOWN = {
  columns: ['id', 'type', 'name', 'provision', 'is_enabled', 'users'],
  wide: ['issuer', 'client_id', 'has_client_secret', 'urls', 'user_base', 'has_bind_password', 'created_at'],
};

const MORE =
  'scopes claims parameters bind_dn user_filter username_attribute subject_attribute group_base group_filter group_name_attribute nested_groups mapping'.split(
    ' ',
  );

/** `baton identity-providers ...`: where users of the organisation sign in (docs/login.md). */
export function identityProviderCommands(cli: Cli): void {
  const providers = noun(cli, 'identity-providers', {
    alias: 'identity-provider',
    about: 'where users of the organisation sign in',
    examples: [
      'identity-providers put company -s company.yaml --secret-file client-secret',
      'identity-providers put directory -s directory.yaml --bind-password-file reader.txt',
      'identity-providers test company',
    ],
  });
  command(cli, providers, {
    name: 'list',
    about: 'list identity providers',
    uses: ['listIdentityProviders'],
    run: async ({ client, out }) =>
      out.table((await client.call('listIdentityProviders')).items, SHOWN.columns, SHOWN),
  });
  getCommand(cli, providers, {
    ...SHOWN,
    operation: 'getIdentityProviderById',
    param: 'provider_id',
    about: 'show an identity provider without its secret',
    more: MORE,
  });
  writeCommands(cli, providers);
  callCommand(cli, providers, {
    name: 'test <id>',
    about: 'ask the provider as a sign-in would, and say what fails',
    operation: 'testIdentityProvider',
    request: ([provider_id]) => ({ params: { provider_id } }),
    fields: ['ok', 'step', 'message', 'warnings'],
  });
  callCommand(cli, providers, {
    name: 'add-user <id> <username>',
    about: 'make a user that belongs to the provider, before the first sign-in',
    operation: 'addProviderUser',
    options: [
      required('--subject <sub>', 'the user at the provider: claim sub, or the value of subject_attribute'),
    ],
    request: ([provider_id, username], o) => ({
      params: { provider_id },
      body: { username, subject: o.subject },
    }),
    done: ([id, username]) => `User ${username} belongs to ${id}.`,
  });
  deleteCommand(cli, providers, {
    operation: 'deleteIdentityProvider',
    param: 'provider_id',
    about: 'delete an identity provider that no user belongs to',
    kind: 'Identity provider',
  });
  command(cli, providers, {
    name: 'offered',
    about: 'list the providers that the sign-in page offers',
    uses: ['listLoginProviders'],
    run: async ({ client, out }) =>
      out.table((await client.call('listLoginProviders')).items, ['id', 'name', 'type']),
  });
}

/** Options with files of secrets, the fields that they fill, and what to call them. */
const SECRETS = [
  ['secretFile', '--secret-file', 'client_secret', 'Client secret'],
  ['bindPasswordFile', '--bind-password-file', 'bind_password', 'Bind password'],
] as const;

const settings = () => [
  repeated('-s, --setting <name=value|file>', 'setting, or a YAML file of them (docs/login.md)'),
  option('--secret-file <path>', 'file that holds the client secret; - = standard input'),
  option('--bind-password-file <path>', 'file that holds the password of bind_dn; - = standard input'),
];

/** `put` replaces all settings, `update` the named ones. */
function writeCommands(cli: Cli, providers: Command): void {
  for (const [name, operation, about] of [
    ['put', 'putIdentityProvider', 'create an identity provider, or replace its settings'],
    ['update', 'changeIdentityProvider', 'change settings; what is not named stays'],
  ] as const)
    command(cli, providers, {
      name: `${name} <id>`,
      about,
      uses: [operation],
      options: settings(),
      run: async ({ args: [id], options, client, out, io }) => {
        const secrets: Record<string, string> = {};
        for (const [key, flag, field, label] of SECRETS)
          if (options[key] !== undefined)
            secrets[field] = await secretText(io, {
              file: options[key],
              label: `${label} of ${id}`,
              options: flag,
            });
        const type = operation === 'putIdentityProvider' ? { type: 'oidc' } : {};
        const body = { ...type, ...collectValues(options.setting), ...secrets } as never;
        const provider = await client.call(operation, { params: { provider_id: id }, body });
        out.done(`Identity provider ${id} stored.`, provider);
      },
    });
}
