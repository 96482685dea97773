import { existsSync, readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { CommandFailure, UsageFailure } from '../failure';
import { type Cli, command, noun } from '../layer/define';
import { callCommand, deleteCommand, getCommand, listCommand } from '../layer/resource';

const SHOWN = {
  columns: ['name', 'fingerprint', 'state', 'created_at', 'created_by'],
  wide: ['changed_at', 'changed_by', 'tenant_name'],
  name: 'name',
};
const MAX_FILE_CHARS = 2_048;

/** `baton plugin-keys ...`: whose plugins a tenant trusts (docs/plugin-signatures.md). */
export function pluginKeyCommands(cli: Cli): void {
  const keys = noun(cli, 'plugin-keys', {
    alias: 'plugin-key',
    about: 'keys whose signatures of plugins the tenant trusts',
    examples: ['plugin-keys add team-a team-a.pub', 'plugin-keys revoke team-a', 'plugin-keys require on'],
  });
  listCommand(cli, keys, { ...SHOWN, operation: 'listPluginKeys', about: 'list keys' });
  getCommand(cli, keys, {
    ...SHOWN,
    operation: 'getPluginKey',
    param: 'key_name',
    argument: '<name>',
    about: 'show a key',
    more: ['public_key'],
  });
  changeCommands(cli, keys);
  deleteCommand(cli, keys, {
    operation: 'deletePluginKey',
    param: 'key_name',
    argument: '<name>',
    about: 'remove a key: what it has signed stays, further uploads are not trusted',
    kind: 'Plugin key',
  });
  trustCommands(cli, keys);
}

function changeCommands(cli: Cli, keys: Command): void {
  callCommand(cli, keys, {
    name: 'add <name> <file>',
    about: 'trust a public key, as `plugins keygen` writes it',
    operation: 'putPluginKey',
    request: ([name, file]) => ({ params: { key_name: name }, body: { public_key: publicKeyIn(file) } }),
    done: ([name], key) => `Plugin key ${name} added: ${key.fingerprint}`,
  });
  callCommand(cli, keys, {
    name: 'revoke <name>',
    about: 'stop everything that the key has signed: it is neither uploaded nor run any more',
    operation: 'patchPluginKey',
    request: ([name]) => ({ params: { key_name: name }, body: { state: 'revoked' } }),
    done: ([name]) => `Plugin key ${name} is revoked. Plugins that it has signed do not run any more.`,
  });
  callCommand(cli, keys, {
    name: 'restore <name>',
    about: 'trust a revoked key again',
    operation: 'patchPluginKey',
    request: ([name]) => ({ params: { key_name: name }, body: { state: 'trusted' } }),
    done: ([name]) => `Plugin key ${name} is trusted again.`,
  });
}

function trustCommands(cli: Cli, keys: Command): void {
  command(cli, keys, {
    name: 'policy',
    about: 'show whether plugins need the signature of a trusted key',
    uses: ['getPluginTrust'],
    run: async ({ client, out }) => out.record(await client.call('getPluginTrust')),
  });
  callCommand(cli, keys, {
    name: 'require <on|off>',
    about: 'decide whether plugins need the signature of a trusted key',
    operation: 'putPluginTrust',
    request: ([value]) => {
      if (value !== 'on' && value !== 'off') throw new UsageFailure(`${value}: expected on or off`);
      return { body: { requires_signature: value === 'on' } };
    },
    done: (_args, trust) =>
      trust.requires_signature
        ? 'Only plugins with a trusted signature are taken from now on. What is there stays.'
        : 'Plugins need no signature.',
  });
}

/** @throws CommandFailure for a file that cannot be a public key: a private key must not leave this machine */
function publicKeyIn(file: string): string {
  if (!existsSync(file)) throw new CommandFailure(`${file}: there is no such file`);
  const text = readFileSync(file, 'utf8').slice(0, MAX_FILE_CHARS);
  if (/PRIVATE KEY/.test(text))
    throw new CommandFailure(`${file} is the private key: give the file with the ending .pub`);
  return text;
}
