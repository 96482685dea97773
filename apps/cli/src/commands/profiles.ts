import { createClient } from '@baton/client';
import type { Command } from 'commander';
import { cliEnvironment } from '../config';
import { printer } from '../output';
import { profileNamed, readProfiles, writeProfiles } from '../profile-store';
import { type GlobalOptions, sessionOf } from '../session';

const LIFETIME = '+30d';

export function profileCommands(program: Command): void {
  const profiles = program
    .command('profiles')
    .alias('profile')
    .description('managers that this command knows');
  addCommand(profiles);
  listCommand(profiles);
  useCommand(profiles);
  deleteCommand(profiles);
}

function addCommand(profiles: Command): void {
  profiles
    .command('add <name>')
    .description('log in to a manager; a token is kept, the password is not')
    .action(async (name: string, _options, command: Command) => {
      const { url, username, password, tenant, json } = withEnvironment(command);
      if (!url || !username || !password)
        throw new Error(
          'give --url, --username and --password (or BATON_URL, BATON_USERNAME, BATON_PASSWORD)',
        );
      const client = createClient({ baseUrl: url, username, password, tenant });
      const token = await client.call('createToken', {
        body: { description: 'baton command', expiration_date: LIFETIME },
      });
      const { profilesFile } = cliEnvironment();
      const all = readProfiles(profilesFile);
      all.profiles[name] = { url, username, token: token.value, tenant: tenant ?? 'default_tenant' };
      all.current = name;
      writeProfiles(profilesFile, all);
      printer(json ?? false).done(`Profile ${name} added and in use.`, { name, url, username });
    });
}

function listCommand(profiles: Command): void {
  profiles
    .command('list')
    .description('list profiles')
    .action((_options, command: Command) => {
      const all = readProfiles(cliEnvironment().profilesFile);
      const rows = Object.entries(all.profiles).map(([name, { token: _token, ...rest }]) => ({
        name,
        ...rest,
        in_use: name === all.current,
      }));
      printer(command.optsWithGlobals<GlobalOptions>().json ?? false).table(rows, [
        'name',
        'url',
        'username',
        'tenant',
        'in_use',
      ]);
    });
}

function useCommand(profiles: Command): void {
  profiles
    .command('use <name>')
    .description('use a profile from now on')
    .action((name: string, _options, command: Command) =>
      changeProfiles(command, `Profile ${name} in use.`, (all) => {
        profileNamed(all, name);
        all.current = name;
      }),
    );
}

function deleteCommand(profiles: Command): void {
  profiles
    .command('delete <name>')
    .description('forget a profile')
    .action((name: string, _options, command: Command) =>
      changeProfiles(command, `Profile ${name} deleted.`, (all) => {
        profileNamed(all, name);
        delete all.profiles[name];
        if (all.current === name) all.current = null;
      }),
    );
}

function withEnvironment(command: Command): GlobalOptions {
  const env = cliEnvironment();
  const options = command.optsWithGlobals<GlobalOptions>();
  return {
    ...options,
    url: options.url ?? env.url,
    username: options.username ?? env.username,
    password: options.password ?? env.password,
    tenant: options.tenant ?? env.tenant,
  };
}

function changeProfiles(
  command: Command,
  text: string,
  change: (all: ReturnType<typeof readProfiles>) => void,
): void {
  const { profilesFile } = cliEnvironment();
  const all = readProfiles(profilesFile);
  change(all);
  writeProfiles(profilesFile, all);
  printer(command.optsWithGlobals<GlobalOptions>().json ?? false).done(text, { current: all.current });
}

/** Status of the manager. */
export function statusCommands(program: Command): void {
  program
    .command('status')
    .description('status of the manager and its services')
    .action(async (_options, command: Command) => {
      const { client, out } = sessionOf(command);
      const status = await client.call('getStatus');
      if (out.isJson) return out.record(status);
      out.table(
        Object.entries(status.services).map(([service, { status }]) => ({ service, status })),
        ['service', 'status'],
      );
      out.say(`manager: ${status.status}`);
      if (status.status !== 'OK') process.exitCode = 1;
    });
  program
    .command('version')
    .description('version of the manager')
    .action(async (_options, command: Command) => {
      const { client, out } = sessionOf(command);
      out.record(await client.call('getVersion'));
    });
}
