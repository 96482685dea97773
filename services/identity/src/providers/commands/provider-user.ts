/** Users of providers: how the first sign-in makes one. */
import type { Tx } from '@baton/postgres';
import { defaultSystemRole } from '../../domain/roles';
import { randomText } from '../../domain/token';
import type { DB as Tables } from '../../store/tables.gen';
import { insertUser } from '../../store/users.sql';
import type { ProviderIdentity } from '../domain/claims';
import { LoginFailure } from '../domain/login-failure';
import type { Provider } from '../domain/provider';
import { insertProviderUser } from '../store/provider-users.sql';

/** Length of the password that nobody knows: a release before this one still verifies a hash for every user. */
const NO_PASSWORD_LENGTH = 40;

/** A password that nobody knows, for the hash of a user who has none here. */
export const unknownPassword = (): string => randomText(NO_PASSWORD_LENGTH);

/**
 * Makes the user of a first sign-in. `passwordHash`: of a password that nobody knows; null: the user existed a moment ago.
 * @throws LoginFailure; unique violation when the name or the subject is taken
 */
export async function createProviderUser(
  tx: Tx<Tables>,
  provider: Pick<Provider, 'id' | 'provision'>,
  { subject, username }: ProviderIdentity,
  passwordHash: string | null,
): Promise<{ user_id: number; username: string }> {
  if (provider.provision === 'preexisting')
    throw new LoginFailure('unknown_user', `provider ${provider.id} takes only users made before`);
  if (username === null)
    throw new LoginFailure('bad_name', `provider ${provider.id} gives no name that a user can have`);
  // The user was deleted since it was looked for: the next attempt makes it anew.
  if (passwordHash === null) throw new LoginFailure('expired', 'the user was deleted meanwhile');
  const userId = await insertUser(tx, { username, password_hash: passwordHash, role: defaultSystemRole });
  await insertProviderUser(tx, { userId, provider: provider.id, subject });
  return { user_id: userId, username };
}

export const nameTaken = (username: string | null): LoginFailure =>
  new LoginFailure('name_taken', `the name ${username} belongs to another user`);
