import { homedir } from 'node:os';
import { join } from 'node:path';

/** What the command reads from the environment; options win over it, it wins over the profile. */
export interface CliEnvironment {
  url: string | undefined;
  username: string | undefined;
  password: string | undefined;
  token: string | undefined;
  tenant: string | undefined;
  /** Where profiles are kept. */
  profilesFile: string;
}

export function cliEnvironment(): CliEnvironment {
  const env = process.env;
  return {
    url: env.BATON_URL,
    username: env.BATON_USERNAME,
    password: env.BATON_PASSWORD,
    token: env.BATON_TOKEN,
    tenant: env.BATON_TENANT,
    profilesFile: env.BATON_PROFILES ?? join(homedir(), '.baton', 'profiles.json'),
  };
}
