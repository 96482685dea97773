import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { CliIo } from '../cli-io';
import { UsageFailure } from '../failure';
import { collectTexts, collectValues } from '../key-values';
import { type Cli, command, noun, type Options, option, repeated, visibilityOption } from '../layer/define';
import { callCommand, deleteCommand, getCommand, listCommand } from '../layer/resource';
import { secretText } from '../prompt';
import { providerCommands } from './secrets-providers';

const SHOWN = {
  columns: ['key', 'visibility', 'is_hidden_value', 'created_at', 'updated_at', 'created_by'],
  wide: ['provider_name', 'tenant_name'],
  name: 'key',
};
const named = (key: string) => ({ secret_key: key });

export function secretCommands(cli: Cli): void {
  const secrets = noun(cli, 'secrets', {
    alias: 'secret',
    about: 'secrets of the tenant',
    examples: [
      'secrets create db_password --file password.txt',
      'secrets export secrets.json --passphrase-file key.txt',
    ],
  });
  writeCommands(cli, secrets);
  listCommand(cli, secrets, {
    ...SHOWN,
    operation: 'listSecrets',
    search: 'searchSecrets',
    about: 'list secrets without their values',
  });
  getCommand(cli, secrets, {
    ...SHOWN,
    operation: 'getSecret',
    param: 'secret_key',
    argument: '<key>',
    about: 'show a secret with its value',
    more: ['value'],
    options: [option('--no-value', 'without its value')],
    queryOf: ({ value }) => ({ _skip_value: value === false ? true : undefined }),
  });
  deleteCommand(cli, secrets, {
    operation: 'deleteSecret',
    param: 'secret_key',
    argument: '<key>',
    about: 'delete a secret',
    kind: 'Secret',
  });
  callCommand(cli, secrets, {
    name: 'set-visibility <key> <visibility>',
    about: 'widen who sees a secret: tenant or global',
    operation: 'setSecretVisibility',
    request: ([key, visibility]) => ({
      params: named(key),
      body: { visibility },
      query: { _include: 'key' },
    }),
    done: ([key, visibility]) => `Secret ${key} is visible to: ${visibility}.`,
  });
  listCommand(cli, secrets, {
    columns: ['id', 'created_at', 'created_by', 'visibility'],
    operation: 'listSecretUses',
    command: 'uses <key>',
    param: 'secret_key',
    about: 'list the blueprints whose plan names it',
  });
  exchangeCommands(cli, secrets);
  providerCommands(cli);
}

const valueOptions = () => [
  option('-s, --value <value>', 'value; it stays in the history of the shell, a file does not'),
  option('--file <path>', 'file that holds the value; - = standard input'),
];

function writeCommands(cli: Cli, secrets: Command): void {
  command(cli, secrets, {
    name: 'create <key>',
    about: 'store a secret; without --value and --file its value is asked for, without echo',
    uses: ['putSecret'],
    options: [
      ...valueOptions(),
      option('-u, --update', 'replace the value when it exists'),
      option('--hidden', 'show the value only to the creator and administrators'),
      visibilityOption('tenant'),
      option('--provider <name>', 'store that keeps the value'),
      repeated('--provider-option <name=value|file>', 'where that store keeps it'),
    ],
    examples: ['secrets create db_password', 'pwgen 32 1 | baton secrets create db_password --file -'],
    run: async ({ args: [key], options, client, out, io }) => {
      await client.call('putSecret', {
        params: named(key),
        body: {
          value: await givenValue(io, key, options),
          update_if_exists: options.update ?? false,
          is_hidden_value: options.hidden ?? false,
          visibility: options.visibility,
          ...(options.provider ? { provider_name: options.provider } : {}),
          ...(options.providerOption.length > 0
            ? { provider_options: collectValues(options.providerOption) }
            : {}),
        },
        query: { _include: 'key' },
      });
      out.done(`Secret ${key} stored.`, { key });
    },
  });
  command(cli, secrets, {
    name: 'update <key>',
    about: 'change value, visibility or hiding',
    uses: ['patchSecret'],
    options: [
      ...valueOptions(),
      option('--hidden', 'show the value only to the creator and administrators'),
      option('--shown', 'show the value to all who may read the secret'),
      visibilityOption(),
    ],
    run: async ({ args: [key], options, client, out, io }) => {
      const isHidden = options.hidden ? true : options.shown ? false : undefined;
      const hasValue = options.value !== undefined || options.file !== undefined;
      if (!hasValue && isHidden === undefined && options.visibility === undefined)
        throw new UsageFailure('give --value, --file, --hidden, --shown or --visibility');
      const body = {
        ...(hasValue ? { value: await givenValue(io, key, options) } : {}),
        ...(isHidden === undefined ? {} : { is_hidden_value: isHidden }),
        ...(options.visibility ? { visibility: options.visibility } : {}),
      };
      await client.call('patchSecret', { params: named(key), body, query: { _include: 'key' } });
      out.done(`Secret ${key} changed.`, { key });
    },
  });
}

const givenValue = (io: CliIo, key: string, { value, file }: Options): Promise<string> =>
  secretText(io, { value, file, label: `Value of secret ${key}`, options: '--value or --file' });

const passphraseOptions = () => [
  option('--passphrase <text>', 'passphrase; it stays in the history of the shell, a file does not'),
  option('--passphrase-file <path>', 'file that holds the passphrase; - = standard input'),
];

const passphraseOf = (io: CliIo, { passphrase, passphraseFile }: Options): Promise<string> =>
  secretText(io, {
    value: passphrase,
    file: passphraseFile,
    label: 'Passphrase',
    options: '--passphrase or --passphrase-file',
  });

function exchangeCommands(cli: Cli, secrets: Command): void {
  command(cli, secrets, {
    name: 'export <file>',
    about: 'write secrets with their values to a file that only you can read, encrypted by a passphrase',
    uses: ['exportSecrets'],
    options: [
      ...passphraseOptions(),
      option('--plain', 'unencrypted values, without a passphrase'),
      option('--with-metadata', 'creators and times as well'),
      option('-a, --all-tenants', 'of all tenants that you may see'),
      option('--search <text>', 'part of the key'),
      visibilityOption(),
    ],
    run: async ({ args: [file], options, client, out, io }) => {
      const found = await client.call('exportSecrets', {
        query: {
          _passphrase: options.plain ? undefined : await passphraseOf(io, options),
          'non-encrypted': options.plain ? 'true' : undefined,
          _include_metadata: options.withMetadata,
          _all_tenants: options.allTenants,
          _search: options.search,
          visibility: options.visibility,
        },
      });
      writePrivate(file, `${JSON.stringify(found, null, 2)}\n`);
      out.done(
        `${found.length} secrets written to ${file}.`,
        { file, secrets: found.length },
        { name: 'file' },
      );
    },
  });
  command(cli, secrets, {
    name: 'import <file>',
    about: 'create secrets from an export',
    uses: ['importSecrets'],
    options: [
      ...passphraseOptions(),
      option('--override', 'replace secrets that exist'),
      repeated('--tenant-map <from=to>', 'tenant in the export and tenant here'),
    ],
    run: async ({ args: [file], options, client, out, io }) => {
      const list = secretsIn(file);
      const isEncrypted = list.some((one) => (one as { encrypted?: boolean } | null)?.encrypted === true);
      const answer = await client.call('importSecrets', {
        body: {
          secrets_list: list,
          override_collisions: options.override ?? false,
          ...(isEncrypted ? { passphrase: await passphraseOf(io, options) } : {}),
          ...(options.tenantMap.length > 0
            ? { tenant_map: collectTexts('--tenant-map', options.tenantMap) }
            : {}),
        },
      });
      if (out.isMachine) return out.record(answer);
      reportImport(out.say, list.length, answer);
    },
  });
}

/** Writes a file that only its owner can read, also where a file of that name with wider rights is there already. */
function writePrivate(file: string, text: string): void {
  writeFileSync(file, '', { mode: 0o600 });
  chmodSync(file, 0o600);
  writeFileSync(file, text);
}

function secretsIn(file: string): unknown[] {
  let list: unknown;
  try {
    list = JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    // The message of JSON.parse shows a part of the text, which holds secrets.
    if (cause instanceof SyntaxError)
      throw new UsageFailure(`${file}: expected JSON, as secrets export writes it`);
    throw cause;
  }
  if (!Array.isArray(list)) throw new UsageFailure(`${file}: expected a list, as secrets export writes it`);
  return list;
}

interface Imported {
  colliding_secrets: Record<string, string[]>;
  secrets_errors: Record<string, unknown>;
}

function reportImport(say: (text: string) => void, total: number, answer: Imported): void {
  const colliding = Object.entries(answer.colliding_secrets);
  const errors = Object.entries(answer.secrets_errors);
  for (const [tenant, keys] of colliding) say(`${tenant}: existed already: ${keys.join(', ')}`);
  for (const [index, reason] of errors) say(`secret ${index}: ${JSON.stringify(reason)}`);
  say(`${total} secrets read, ${errors.length} with errors.`);
}
