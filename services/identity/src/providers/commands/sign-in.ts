import { Secret } from '@baton/kernel';
import { type Db, isUniqueViolation, type Tx } from '@baton/postgres';
import type { Passwords } from '../../adapters/passwords';
import { announceChange } from '../../commands/announce';
import { newToken } from '../../domain/token';
import { recordLogin } from '../../store/authentication.sql';
import { findProvider } from '../../store/identity-providers.sql';
import { holdUser, insertSession, trimSessions } from '../../store/sessions.sql';
import type { DB as Tables } from '../../store/tables.gen';
import type { SignedIn } from '../adapters/oidc-client';
import { ATTEMPT_MS, stateHash } from '../domain/login-attempt';
import { LoginFailure } from '../domain/login-failure';
import { grantsOf, type OidcProvider } from '../domain/provider';
import type { Sealer } from '../domain/sealed-text';
import {
  findBySubject,
  holdProvider,
  noteChecked,
  replaceGrants,
  useState,
} from '../store/provider-users.sql';
import { createProviderUser, nameTaken, unknownPassword } from './provider-user';
import { RECHECK_MS } from './recheck';

export interface SignInDeps {
  db: Db<Tables>;
  passwords: Pick<Passwords, 'hash'>;
  sealer: Sealer;
  sessionLifeMs: number;
}

/** A good answer of the provider to one attempt. */
export interface Arrival {
  state: string;
  signedIn: SignedIn;
  /** Called with the name of the user before the transaction begins. */
  onUser: (username: string) => void;
}

export interface ProviderSession {
  userId: number;
  username: string;
  /** Value of the session cookie. */
  secret: Secret;
}

/**
 * Opens a session for a user whom the provider has named. State, user, roles and session are one transaction: after a crash before
 * its commit nothing has happened, and after it the browser only lacks the cookie and signs in again.
 * @throws LoginFailure
 */
export async function openProviderSession(
  deps: SignInDeps,
  provider: OidcProvider,
  arrival: Arrival,
): Promise<ProviderSession> {
  const { subject, username } = arrival.signedIn.identity;
  const known = await findBySubject(deps.db.query, provider.id, subject);
  arrival.onUser(known?.username ?? username ?? '');
  const newHash = known === undefined ? await deps.passwords.hash(unknownPassword()) : null;
  const run = () => deps.db.tx((tx) => store(tx, deps, provider.id, arrival, newHash));
  const opened = await run().catch((error: unknown) => {
    if (!isUniqueViolation(error)) throw error;
    // Another first sign-in of the same user was faster, or the name is taken: the second attempt tells which.
    return run().catch((again: unknown) => {
      throw isUniqueViolation(again) ? nameTaken(username) : again;
    });
  });
  // A crash before this line only loses the time of the login.
  await recordLogin(deps.db, opened.userId);
  return opened;
}

async function store(
  tx: Tx<Tables>,
  deps: SignInDeps,
  providerId: string,
  { state, signedIn: { identity, refreshToken } }: Arrival,
  newHash: string | null,
): Promise<ProviderSession> {
  await holdProvider(tx, providerId);
  // Read again: an administrator may have changed the mapping while the provider was asked.
  const provider = await findProvider(tx, providerId);
  if (!provider?.isEnabled) throw new LoginFailure('no_provider', `provider ${providerId} is disabled`);
  const known = await findBySubject(tx, provider.id, identity.subject);
  const user = known ?? (await createProviderUser(tx, provider, identity, newHash));
  if (!(await holdUser(tx, user.user_id, null)))
    throw new LoginFailure('inactive', `user ${user.username} is inactive`);
  if (!(await useState(tx, stateHash(state), ATTEMPT_MS)))
    throw new LoginFailure('expired', 'the attempt has opened a session already');
  const owner = String(user.user_id);
  await noteChecked(tx, user.user_id, {
    groups: identity.groups,
    refreshSealed: refreshToken && deps.sealer.seal('refresh token', owner, refreshToken),
    againMs: RECHECK_MS,
  });
  await replaceGrants(tx, [{ userId: user.user_id, grants: grantsOf(provider.mapping, identity.groups) }]);
  const { id, value, secretHash } = newToken('bses');
  await insertSession(tx, { id, userId: user.user_id, secretHash, lifeMs: deps.sessionLifeMs });
  await trimSessions(tx, user.user_id);
  await announceChange(tx, user.username);
  return { userId: user.user_id, username: user.username, secret: new Secret(value) };
}
