import { homedir } from 'node:os';
import { join } from 'node:path';

/** The settings from the environment: options override them, and they override the profile. */
export interface CliEnvironment {
  url: string | undefined;
  username: string | undefined;
  password: string | undefined;
  token: string | undefined;
  tenant: string | undefined;
  /** File of the profiles. */
  profilesFile: string;
  /** NO_COLOR (https://no-color.org): no colours, whatever the output is. */
  isColourless: boolean;
}

/** @param env the variables of the process unless a test gives others */
export function cliEnvironment(env: Record<string, string | undefined> = process.env): CliEnvironment {
  return {
    url: env.BATON_URL,
    username: env.BATON_USERNAME,
    password: env.BATON_PASSWORD,
    token: env.BATON_TOKEN,
    tenant: env.BATON_TENANT,
    profilesFile: env.BATON_PROFILES ?? join(homedir(), '.baton', 'profiles.json'),
    isColourless: (env.NO_COLOR ?? '') !== '' || env.TERM === 'dumb',
  };
}
