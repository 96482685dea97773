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
  /** Profile whose token is used; null when credentials came from options or the environment. */
  profile: string | null;
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

const DEFAULT_URL = 'http://127.0.0.1:8080';

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
    profile: isOfProfile ? (name ?? null) : null,
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
