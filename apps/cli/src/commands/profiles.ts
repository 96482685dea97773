import type { Command } from 'commander';
import { UsageFailure } from '../failure';
import { type Cli, command, noun, type Run } from '../layer/define';
import { keepLogin, passwordLogin } from '../log-in';
import { profileNamed, readProfiles, writeProfiles } from '../profile-store';
import { type GlobalOptions, withEnvironment } from '../session';

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
      const { url, username, password, tenant } = withEnvironment(io, add.optsWithGlobals<GlobalOptions>());
      if (!url || !username)
        throw new UsageFailure(
          'give --url and --username (or BATON_URL, BATON_USERNAME); --password or BATON_PASSWORD',
        );
      const target = { name, url, tenant: tenant ?? 'default_tenant' };
      keepLogin(io, name, await passwordLogin(io, target, username, password));
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
      const { username = profile.username, password } = withEnvironment(
        io,
        again.optsWithGlobals<GlobalOptions>(),
      );
      if (!username) throw new UsageFailure(`profile ${name} has no user name; give --username`);
      keepLogin(io, name, await passwordLogin(io, { ...profile, name }, username, password));
      out.done(`Logged in to ${profile.url} as ${username}.`, { name, url: profile.url, username });
    },
  });
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
