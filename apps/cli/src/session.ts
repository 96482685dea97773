import { type Client, createClient } from '@baton/client';
import { nearestName } from '@baton/kernel';
import type { Command } from 'commander';
import type { CliIo } from './cli-io';
import { UsageFailure } from './failure';
import { type Format, formats, type Printer, printer } from './output';
import { profileNamed, readProfiles } from './profile-store';

/** Manager, user and output of one command. */
export interface Session {
  client: Client;
  out: Printer;
  tenant: string;
  url: string;
  username: string | undefined;
  /** Id of the token that is used, for GET and DELETE /tokens/{id}; null for a password, and for the token of an execution. */
  tokenId: string | null;
  /** Profile whose token is used; null when credentials came from options or the environment. */
  profile: string | null;
  /** Whether credentials are known: of a profile, an option or the environment. */
  isLoggedIn: boolean;
}

export interface GlobalOptions {
  json?: boolean;
  output?: string;
  profile?: string;
  url?: string;
  username?: string;
  password?: string;
  token?: string;
  tenant?: string;
}

/** Where a standalone listens. */
export const DEFAULT_URL = 'http://127.0.0.1:8080';

/**
 * Returns client and printer of a command. Settings come from the options, then the environment, then the profile, then the
 * standalone's address.
 */
export function sessionOf(io: CliIo, command: Command): Session {
  const options = command.optsWithGlobals<GlobalOptions>();
  const { env } = io;
  const all = readProfiles(env.profilesFile);
  const name = options.profile ?? all.current;
  const profile = name ? profileNamed(all, name) : null;
  const tenant = options.tenant ?? env.tenant ?? profile?.tenant ?? 'default_tenant';
  const username = options.username ?? env.username ?? profile?.username;
  const password = options.password ?? env.password;
  const given = options.token ?? env.token;
  const token = given ?? (password === undefined ? profile?.token : undefined);
  const url = options.url ?? env.url ?? profile?.url ?? DEFAULT_URL;
  const client = createClient({
    baseUrl: url,
    ...(token ? { token } : { username, password }),
    tenant,
  });
  const isOfProfile = given === undefined && token !== undefined;
  return {
    client,
    out: printerOf(io, options),
    tenant,
    url,
    username,
    tokenId: token === undefined ? null : tokenIdOf(token),
    profile: isOfProfile ? (name ?? null) : null,
    isLoggedIn: token !== undefined || (username !== undefined && password !== undefined),
  };
}

/** Returns the id in a token: `ctok-<id>-<secret>`; null for a text that is no token of a user. */
export const tokenIdOf = (token: string): string | null =>
  /^ctok-([A-Za-z0-9]{10})-/.exec(token)?.[1] ?? null;

/** Returns the options, and the environment in place of those that are not given. */
export function withEnvironment({ env }: CliIo, options: GlobalOptions): GlobalOptions {
  return {
    ...options,
    url: options.url ?? env.url,
    username: options.username ?? env.username,
    password: options.password ?? env.password,
    tenant: options.tenant ?? env.tenant,
  };
}

/** Returns the printer for the options of a command. @throws UsageFailure for an unknown format */
export function printerOf(io: CliIo, options: GlobalOptions, write = io.out): Printer {
  const isColoured = io.isTerminal && !io.env.isColourless;
  return printer({ format: formatOf(options), isColoured, write });
}

function formatOf({ json, output }: GlobalOptions): Format {
  if (output === undefined) return json ? 'json' : 'table';
  if (!(formats as readonly string[]).includes(output)) {
    const nearest = nearestName(output, formats);
    throw new UsageFailure(
      `-o ${output}: expected one of ${formats.join(', ')}${nearest ? `; did you mean ${nearest}?` : ''}`,
    );
  }
  if (json && output !== 'json') throw new UsageFailure(`--json and -o ${output} exclude each other`);
  return output as Format;
}
