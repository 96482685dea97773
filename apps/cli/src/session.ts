import { type Client, createClient } from '@baton/client';
import type { Command } from 'commander';
import { cliEnvironment } from './config';
import { type Printer, printer } from './output';
import { profileNamed, readProfiles } from './profile-store';

/** What a command works with. */
export interface Session {
  client: Client;
  out: Printer;
  tenant: string;
}

export interface GlobalOptions {
  json?: boolean;
  profile?: string;
  url?: string;
  username?: string;
  password?: string;
  token?: string;
  tenant?: string;
}

const DEFAULT_URL = 'http://127.0.0.1:8080';

/** Client and printer of a command: options, then environment, then profile, then the standalone's address. */
export function sessionOf(command: Command): Session {
  const options = command.optsWithGlobals<GlobalOptions>();
  const env = cliEnvironment();
  const all = readProfiles(env.profilesFile);
  const name = options.profile ?? all.current;
  const profile = name ? profileNamed(all, name) : null;
  const tenant = options.tenant ?? env.tenant ?? profile?.tenant ?? 'default_tenant';
  const username = options.username ?? env.username ?? profile?.username;
  const password = options.password ?? env.password;
  const token = options.token ?? env.token ?? (password === undefined ? profile?.token : undefined);
  const client = createClient({
    baseUrl: options.url ?? env.url ?? profile?.url ?? DEFAULT_URL,
    ...(token ? { token } : { username, password }),
    tenant,
  });
  return { client, out: printer(options.json ?? false), tenant };
}
