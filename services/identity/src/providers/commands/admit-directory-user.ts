import { type Db, isUniqueViolation, type Tx } from '@baton/postgres';
import type { Passwords } from '../../adapters/passwords';
import { announceChange } from '../../commands/announce';
import { findProvider } from '../../store/identity-providers.sql';
import type { DB as Tables } from '../../store/tables.gen';
import type { ProviderIdentity } from '../domain/claims';
import { LoginFailure } from '../domain/login-failure';
import { grantsOf } from '../domain/provider';
import { findBySubject, holdProvider, noteChecked, replaceGrants } from '../store/provider-users.sql';
import { createProviderUser, nameTaken, unknownPassword } from './provider-user';
import { RECHECK_MS } from './recheck';

interface Deps {
  db: Db<Tables>;
  passwords: Pick<Passwords, 'hash'>;
}

/**
 * Stores what a directory has said about somebody with a good password, and returns the id of the user. User and roles are one
 * transaction: after a crash the next sign-in begins anew. `typed`: the name of the sign-in.
 * @throws LoginFailure
 */
export async function admitDirectoryUser(
  { db, passwords }: Deps,
  providerId: string,
  identity: ProviderIdentity,
  typed: string,
): Promise<number> {
  const known = await findBySubject(db.query, providerId, identity.subject);
  const newHash = known === undefined ? await passwords.hash(unknownPassword()) : null;
  const run = () => db.tx((tx) => store(tx, providerId, identity, { typed, newHash }));
  return run().catch((error: unknown) => {
    if (!isUniqueViolation(error)) throw error;
    // Another first sign-in of the same user was faster, or the name is taken: the second attempt tells which.
    return run().catch((again: unknown) => {
      throw isUniqueViolation(again) ? nameTaken(identity.username) : again;
    });
  });
}

async function store(
  tx: Tx<Tables>,
  providerId: string,
  identity: ProviderIdentity,
  { typed, newHash }: { typed: string; newHash: string | null },
): Promise<number> {
  await holdProvider(tx, providerId);
  // Read again: an administrator may have changed the provider while the directory was asked.
  const provider = await findProvider(tx, providerId);
  if (!provider?.isEnabled) throw new LoginFailure('no_provider', `provider ${providerId} is disabled`);
  const known = await findBySubject(tx, providerId, identity.subject);
  if (known && known.username.toLowerCase() !== typed.toLowerCase())
    throw new LoginFailure(
      'bad_name',
      `the user is called ${known.username} here and signs in with that name`,
    );
  const user = known ?? (await createProviderUser(tx, provider, identity, newHash));
  const { groups } = identity;
  await noteChecked(tx, user.user_id, { groups, refreshSealed: null, againMs: RECHECK_MS });
  if (known && isSame(known.groups, groups)) return user.user_id;
  await replaceGrants(tx, [{ userId: user.user_id, grants: grantsOf(provider.mapping, groups) }]);
  await announceChange(tx, user.username);
  return user.user_id;
}

const isSame = (some: readonly string[], others: readonly string[]): boolean =>
  JSON.stringify([...some].sort()) === JSON.stringify([...others].sort());
