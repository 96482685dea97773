import { type AnswerOf, ApiError, createClient } from '@baton/client';
import type { CliIo } from '../cli-io';
import { exitCodeOf, exitCodes } from '../exit-codes';
import { CommandFailure, UsageFailure } from '../failure';
import { declaredClient } from '../layer/declared-client';
import { type Cli, command, option } from '../layer/define';
import { browserLogin, keepLogin, LOGIN_USES, type LoginTarget, passwordLogin } from '../log-in';
import { managerAddress } from '../manager-address';
import { type Profile, profileNamed, readProfiles, writeProfiles } from '../profile-store';
import { shownLine } from '../prompt';
import { DEFAULT_URL, type GlobalOptions, tokenIdOf, withEnvironment } from '../session';

/** `baton login`, `baton whoami`, `baton logout`. */
export function loginCommands(cli: Cli): void {
  loginCommand(cli);
  whoamiCommand(cli);
  logoutCommand(cli);
}

function loginCommand(cli: Cli): void {
  const added = command(cli, cli.program, {
    name: 'login [url]',
    about: 'log in to a manager; a token of 30 days is kept in a profile, the password is not',
    uses: LOGIN_USES,
    options: [
      option('--device', 'approve the login with a browser, on this or another machine'),
      option(
        '--name <profile>',
        'profile that keeps the login; default: the one of this manager, or its host',
      ),
    ],
    examples: ['login https://lab:8443', 'login https://lab:8443 --device', 'login --profile lab'],
    run: async ({ args: [address], options, out, io }) => {
      const given = withEnvironment(io, added.optsWithGlobals<GlobalOptions>());
      const { target, known } = await targetOf(io, given, address, options.name);
      const username = await userOf(io, given, options.device === true, known?.username);
      const profile =
        username === null
          ? await browserLogin(io, target)
          : await passwordLogin(io, target, username, given.password);
      keepLogin(io, target.name, profile);
      const { token: _token, ...shown } = profile;
      out.done(
        `Logged in to ${profile.url} as ${profile.username}, by profile ${target.name}. ${endOf(profile)}`,
        { name: target.name, ...shown },
      );
    },
  });
}

/** Where to log in, and the profile that knows this manager already. */
async function targetOf(
  io: CliIo,
  given: GlobalOptions,
  address: string | undefined,
  wanted: string | undefined,
): Promise<{ target: LoginTarget; known: Profile | undefined }> {
  const all = readProfiles(io.env.profilesFile);
  const named = given.profile === undefined ? undefined : profileNamed(all, given.profile);
  const current = all.current === null ? undefined : all.profiles[all.current];
  const text = address ?? given.url ?? named?.url ?? current?.url ?? (await askAddress(io));
  const url = managerAddress(text);
  const ofManager = Object.entries(all.profiles).find(([, one]) => one.url === url)?.[0];
  const name =
    wanted ?? given.profile ?? (current?.url === url ? all.current! : (ofManager ?? new URL(url).host));
  const known = Object.hasOwn(all.profiles, name) ? all.profiles[name] : undefined;
  const tenant = given.tenant ?? known?.tenant ?? 'default_tenant';
  return { target: { name, url, tenant }, known };
}

const askAddress = (io: CliIo): Promise<string> =>
  shownLine(io, { label: 'Manager', options: 'the address of the manager', byDefault: DEFAULT_URL });

/** Returns the user who logs in with a password; null: by a browser. */
async function userOf(
  io: CliIo,
  { username }: GlobalOptions,
  isDevice: boolean,
  known: string | undefined,
): Promise<string | null> {
  if (isDevice) return null;
  if (username !== undefined) return username;
  if (!io.input.isTTY && known !== undefined) return known;
  const label = known === undefined ? 'User name (empty: log in with a browser)' : 'User name';
  const options = '--device, or --username and --password (BATON_USERNAME, BATON_PASSWORD)';
  return (await shownLine(io, { label, options, byDefault: known })) || null;
}

const endOf = ({ token_expires: end }: Pick<Profile, 'token_expires'>): string =>
  end === undefined
    ? 'When the token ends is not known.'
    : `The token ends ${end.slice(0, 16).replace('T', ' ')} UTC.`;

function whoamiCommand(cli: Cli): void {
  command(cli, cli.program, {
    name: 'whoami',
    about: 'user, roles, manager, and the end of the token',
    uses: ['getToken', 'getUserAccess'],
    run: async ({ client, out, session: { tokenId, username: given, url, tenant, profile } }) => {
      const token =
        tokenId === null ? null : await client.call('getToken', { params: { token_id: tokenId } });
      const username = token?.username ?? given;
      if (username === undefined) throw new UsageFailure('nobody is logged in; log in: baton login');
      const access = await client.call('getUserAccess', { params: { username } });
      const who = {
        username: access.username,
        kind: access.kind,
        manager: url,
        profile,
        tenant,
        ...rolesOf(access, tenant),
        token_id: tokenId,
        token_expires: token?.expiration_date ?? null,
      };
      if (out.isMachine) out.record({ ...who, tenants: access.tenants, provider: access.provider });
      else
        out.record({
          ...who,
          system_roles: who.system_roles.join(', '),
          tenant_roles: who.tenant_roles.join(', '),
        });
    },
  });
}

function rolesOf({ system_roles: system, tenants }: AnswerOf<'getUserAccess'>, tenant: string) {
  const inTenant = tenants.find(({ name }) => name === tenant)?.roles ?? [];
  return {
    system_roles: system.map(({ role }) => role),
    tenant_roles: inTenant.map(({ role }) => role),
  };
}

function logoutCommand(cli: Cli): void {
  const added = command(cli, cli.program, {
    name: 'logout',
    about: 'revoke the token of the profile in use, and forget it; the profile stays',
    uses: ['deleteToken'],
    run: async ({ out, io }) => {
      const all = readProfiles(io.env.profilesFile);
      const name = added.optsWithGlobals<GlobalOptions>().profile ?? all.current;
      if (name === null) throw new CommandFailure('no profile is in use', exitCodes.notFound);
      const { token, token_expires: expires, ...rest } = profileNamed(all, name);
      if (token === undefined)
        throw new CommandFailure(`nobody is logged in by profile ${name}`, exitCodes.notFound);
      const end = await revoke({ ...rest, token });
      // A crash before this line leaves a token that the manager refuses; logging out again forgets it.
      all.profiles[name] = rest;
      writeProfiles(io.env.profilesFile, all);
      const result = { name, is_revoked: end.isRevoked, token_expires: expires ?? null };
      // A token that is not revoked is good for whoever has a copy of it.
      const left = end.isRevoked ? '' : ` ${endOf({ token_expires: expires })}`;
      out.done(`Logged out of ${rest.url}, profile ${name}. ${end.text}${left}`, result);
    },
  });
}

/** What became of a token. */
interface Revoked {
  isRevoked: boolean;
  text: string;
}

const notRevoked = (reason: string): Revoked => ({
  isRevoked: false,
  text: `Its token is not revoked: ${reason}.`,
});

/** Revokes a token by itself. A token that is refused has ended already. */
async function revoke({ url, token, tenant }: Profile & { token: string }): Promise<Revoked> {
  const id = tokenIdOf(token);
  if (id === null) return notRevoked('it is no token of a user');
  const client = declaredClient(createClient({ baseUrl: url, token, tenant }), 'logout', ['deleteToken']);
  try {
    await client.call('deleteToken', { params: { token_id: id } });
    return { isRevoked: true, text: 'Its token is revoked.' };
  } catch (error) {
    if (error instanceof ApiError && (error.status === 401 || error.status === 404))
      return { isRevoked: true, text: 'The manager did not take its token any more.' };
    if (exitCodeOf(error) === exitCodes.unreachable) return notRevoked('the manager is not reached');
    if (error instanceof ApiError) return notRevoked(error.message);
    throw error;
  }
}
