import { createClient } from '@baton/client';
import type { Command } from 'commander';
import type { CliIo } from '../cli-io';
import { UsageFailure } from '../failure';
import { declaredClient } from '../layer/declared-client';
import { type Cli, command, noun, type Run } from '../layer/define';
import { type Profile, profileNamed, readProfiles, writeProfiles } from '../profile-store';
import { secretText } from '../prompt';
import type { GlobalOptions } from '../session';

const LIFETIME = '+30d';

export function profileCommands(cli: Cli): void {
  const profiles = noun(cli, 'profiles', {
    alias: 'profile',
    about: 'managers that this command knows',
    examples: ['profiles add lab --url https://lab:8443 -U alice', 'profiles use lab', 'profiles login'],
  });
  loginCommands(cli, profiles);
  command(cli, profiles, {
    name: 'list',
    about: 'list profiles',
    uses: [],
    run: ({ out, io }) => {
      const all = readProfiles(io.env.profilesFile);
      const rows = Object.entries(all.profiles).map(([name, { token: _token, ...rest }]) => ({
        name,
        ...rest,
        in_use: name === all.current,
      }));
      out.table(rows, ['name', 'url', 'username', 'tenant', 'in_use'], { name: 'name' });
    },
  });
  command(cli, profiles, {
    name: 'use <name>',
    about: 'use a profile from now on',
    uses: [],
    run: (run) =>
      changeProfiles(run, `Profile ${run.args[0]} in use.`, (all, name) => {
        all.current = name;
      }),
  });
  command(cli, profiles, {
    name: 'delete <name>',
    about: 'forget a profile',
    uses: [],
    run: (run) =>
      changeProfiles(run, `Profile ${run.args[0]} deleted.`, (all, name) => {
        delete all.profiles[name];
        if (all.current === name) all.current = null;
      }),
  });
}

function loginCommands(cli: Cli, profiles: Command): void {
  const add = command(cli, profiles, {
    name: 'add <name>',
    about:
      'log in to a manager; a token is kept, the password is not; without one it is asked for, without echo',
    uses: ['createToken'],
    run: async ({ args: [name], out, io }) => {
      const { url, username, password, tenant } = withEnvironment(io, add);
      if (!url || !username)
        throw new UsageFailure(
          'give --url and --username (or BATON_URL, BATON_USERNAME); --password or BATON_PASSWORD',
        );
      await logIn(io, name, { url, username, tenant: tenant ?? 'default_tenant' }, password);
      out.done(`Profile ${name} added and in use.`, { name, url, username });
    },
  });
  const again = command(cli, profiles, {
    name: 'login [name]',
    about: 'log in again to the manager of a profile, when its token is refused; default: the profile in use',
    uses: ['createToken'],
    run: async ({ args, out, io }) => {
      const all = readProfiles(io.env.profilesFile);
      const name = args[0] ?? again.optsWithGlobals<GlobalOptions>().profile ?? all.current;
      if (!name)
        throw new UsageFailure('no profile is in use; give its name, or add one: baton profiles add NAME');
      const profile = profileNamed(all, name);
      const { username = profile.username, password } = withEnvironment(io, again);
      if (!username) throw new UsageFailure(`profile ${name} has no user name; give --username`);
      await logIn(io, name, { url: profile.url, username, tenant: profile.tenant }, password);
      out.done(`Logged in to ${profile.url} as ${username}.`, { name, url: profile.url, username });
    },
  });
}

/** Gets a token for a password, and keeps the token in the profile, which is then in use. */
async function logIn(
  io: CliIo,
  name: string,
  profile: Profile & { username: string },
  password: string | undefined,
): Promise<void> {
  const { url, username, tenant } = profile;
  const given = await secretText(io, {
    value: password,
    label: `Password of ${username} at ${url}`,
    options: '--password or BATON_PASSWORD',
  });
  const client = declaredClient(
    createClient({ baseUrl: url, username, password: given, tenant }),
    'profiles',
    ['createToken'],
  );
  const body = { description: 'baton command', expiration_date: LIFETIME };
  const token = await client.call('createToken', { body });
  const all = readProfiles(io.env.profilesFile);
  all.profiles[name] = { url, username, token: token.value, tenant };
  all.current = name;
  writeProfiles(io.env.profilesFile, all);
}

function withEnvironment({ env }: CliIo, command: Command): GlobalOptions {
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
  { args: [name], out, io }: Run<never>,
  text: string,
  change: (all: ReturnType<typeof readProfiles>, name: string) => void,
): void {
  const all = readProfiles(io.env.profilesFile);
  profileNamed(all, name);
  change(all, name);
  writeProfiles(io.env.profilesFile, all);
  out.done(text, { name, current: all.current });
}
