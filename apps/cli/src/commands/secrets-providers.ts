import { collectValues } from '../key-values';
import {
  type Cli,
  command,
  noun,
  type Options,
  option,
  repeated,
  required,
  visibilityOption,
} from '../layer/define';
import { deleteCommand, getCommand, listCommand } from '../layer/resource';

const SHOWN = {
  columns: ['name', 'type', 'visibility', 'created_at', 'updated_at', 'created_by'],
  wide: ['tenant_name'],
  name: 'name',
};
const TYPE = 'local, vault or cloudify';
const connection = () =>
  repeated(
    '-c, --connection <name=value|file>',
    'connection parameter, or a YAML file of them (a file keeps tokens out of the history)',
  );

/** `baton secrets-providers ...`: stores of secrets outside of the manager. */
export function providerCommands(cli: Cli): void {
  const providers = noun(cli, 'secrets-providers', {
    alias: 'secrets-provider',
    about: 'stores that keep secrets',
    examples: [
      'secrets-providers create vault --type vault -c vault.yaml',
      'secrets-providers update vault --test',
    ],
  });
  listCommand(cli, providers, {
    ...SHOWN,
    operation: 'listSecretsProviders',
    about: 'list stores of secrets',
  });
  getCommand(cli, providers, {
    ...SHOWN,
    operation: 'getSecretsProvider',
    param: 'provider_name',
    argument: '<name>',
    about: 'show a store',
    more: ['connection_parameters'],
  });
  command(cli, providers, {
    name: 'create <name>',
    about: 'enter a store of secrets that can be reached',
    uses: ['createSecretsProvider'],
    options: [
      required('--type <type>', TYPE),
      connection(),
      visibilityOption('tenant'),
      option('--test', 'only try it'),
    ],
    run: async ({ args: [name], options, client, out }) => {
      await client.call('createSecretsProvider', { body: { name, ...bodyOf(options) } });
      out.done(options.test ? `Store ${name} can be reached.` : `Store ${name} entered.`, { name });
    },
  });
  command(cli, providers, {
    name: 'update <name>',
    about: 'change how a store is reached, or who sees it',
    uses: ['updateSecretsProvider'],
    options: [
      option('--type <type>', TYPE),
      connection(),
      visibilityOption(),
      option('--test', 'only try it'),
    ],
    run: async ({ args: [name], options, client, out }) => {
      await client.call('updateSecretsProvider', { params: { provider_name: name }, body: bodyOf(options) });
      out.done(options.test ? `Store ${name} can be reached.` : `Store ${name} changed.`, { name });
    },
  });
  deleteCommand(cli, providers, {
    operation: 'deleteSecretsProvider',
    param: 'provider_name',
    argument: '<name>',
    about: 'remove a store that keeps no secret',
    kind: 'Store',
  });
}

function bodyOf({ type, connection: parameters, visibility, test }: Options) {
  return {
    type,
    ...(parameters.length > 0 ? { connection_parameters: collectValues(parameters) } : {}),
    visibility,
    test: test ?? false,
  };
}
