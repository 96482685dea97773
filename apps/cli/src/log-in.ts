/** Logging in to a manager: a token that ends is kept in a profile, a password never. */
import { ApiError, createClient } from '@baton/client';
import type { CliIo } from './cli-io';
import { clientName, deviceLogin } from './device-login';
import { exitCodes } from './exit-codes';
import { CommandFailure } from './failure';
import { declaredClient } from './layer/declared-client';
import { type Profile, readProfiles, writeProfiles } from './profile-store';
import { secretText } from './prompt';

/** Operations of every login. */
export const LOGIN_USES = ['createToken', 'beginDeviceLogin', 'redeemDeviceLogin'] as const;

const LIFETIME = '+30d';

export interface LoginTarget {
  /** Name of the profile. */
  name: string;
  url: string;
  tenant: string;
}

export type KeptProfile = Profile & { username: string };

/**
 * Gets a token for a password. It is asked for without echo when it is not given.
 * @throws CommandFailure when the manager refuses name or password; ApiError
 */
export async function passwordLogin(
  io: CliIo,
  { url, tenant }: LoginTarget,
  username: string,
  password: string | undefined,
): Promise<KeptProfile> {
  const given = await secretText(io, {
    value: password,
    label: `Password of ${username} at ${url}`,
    options: '--password or BATON_PASSWORD',
  });
  const client = declaredClient(createClient({ baseUrl: url, username, password: given, tenant }), 'login', [
    'createToken',
  ]);
  const body = { description: clientName(), expiration_date: LIFETIME };
  const token = await client.call('createToken', { body }).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 401)
      throw new CommandFailure(`${error.message} (${error.errorCode})`, exitCodes.refused, {
        error_code: error.errorCode,
      });
    throw error;
  });
  return {
    url,
    username: token.username,
    token: token.value,
    token_expires: token.expiration_date ?? undefined,
    tenant,
  };
}

/** Gets a token that a person approves with a browser. @throws errors of deviceLogin */
export async function browserLogin(io: CliIo, { url, tenant }: LoginTarget): Promise<KeptProfile> {
  const client = createClient({ baseUrl: url });
  const token = await deviceLogin(
    io,
    declaredClient(client, 'login', ['beginDeviceLogin', 'redeemDeviceLogin']),
  );
  return {
    url,
    username: token.username,
    token: token.access_token,
    token_expires: token.expiration_date,
    tenant,
  };
}

/** Keeps a login in the profile, which is then in use. */
export function keepLogin(io: CliIo, name: string, profile: KeptProfile): void {
  const all = readProfiles(io.env.profilesFile);
  all.profiles[name] = profile;
  all.current = name;
  writeProfiles(io.env.profilesFile, all);
}
