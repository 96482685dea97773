/**
 * Asks providers again about users with sessions or tokens in use. A group that was taken at the provider takes its role here within
 * five minutes: RECHECK_MS, then the time of one check, then a second in which gateways trust their answer.
 */
import { afterDelay, type Log } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { announceChange } from '../../commands/announce';
import { findProvider } from '../../store/identity-providers.sql';
import { deleteSessionsOf } from '../../store/sessions.sql';
import type { DB as Tables } from '../../store/tables.gen';
import type { Directory } from '../adapters/directory';
import type { OidcClient, Recheck } from '../adapters/oidc-client';
import { grantsOf, noGrants } from '../domain/provider';
import type { Sealer } from '../domain/sealed-text';
import {
  holdProvider,
  isUnchanged,
  noteChecked,
  type ProviderUserRow,
  putOffCheck,
  replaceGrants,
  takeCheck,
} from '../store/provider-users.sql';

/** Age at which the roles that a provider gave are asked for again, at the next use of a session or token of the user. */
export const RECHECK_MS = 4 * 60_000;
/** A process that died in a check holds others up for this long. */
const CHECK_LEASE_MS = 15_000;
/** While a provider is away, it is asked this often for one user, and everything stays as it is. */
const AWAY_MS = 30_000;
/** Requests wait for a check at most so long: gateways give up after five seconds. The check itself goes on. */
const WAIT_MS = 3_000;
/** Ten years: a user whom the provider knows no more is checked no more before the next sign-in. */
const NEVER_MS = 10 * 365 * 86_400_000;

export interface RecheckDeps {
  db: Db<Tables>;
  oidc: Pick<OidcClient, 'askAgain'>;
  directory: Pick<Directory, 'askAgain'>;
  sealer: Sealer;
  log: Log;
}

/** Asks the provider about a user when that is due. One process asks; requests meanwhile use the roles as they are. */
export async function recheckUser(deps: RecheckDeps, userId: number): Promise<void> {
  const user = await takeCheck(deps.db, userId, CHECK_LEASE_MS);
  if (!user) return;
  const check = runCheck(deps, user).catch((err: unknown) => {
    deps.log.error(
      { username: user.username, provider: user.provider, err },
      'check of a user at its provider failed',
    );
  });
  let cancel = (): void => undefined;
  const patience = new Promise<void>((resolve) => {
    cancel = afterDelay(WAIT_MS, resolve);
  });
  await Promise.race([check, patience]).finally(() => cancel());
}

async function runCheck(deps: RecheckDeps, user: ProviderUserRow): Promise<void> {
  const answer = await ask(deps, user);
  const about = { username: user.username, provider: user.provider };
  if (answer.kind === 'away') {
    deps.log.warn({ ...about, reason: answer.reason }, 'provider is away: its users keep their roles');
    return putOffCheck(deps.db, user.user_id, AWAY_MS);
  }
  if (answer.kind === 'denied')
    deps.log.info(
      { ...about, reason: answer.reason },
      'provider knows a user no more: roles and sessions end',
    );
  await apply(deps, user, answer);
}

async function ask(deps: RecheckDeps, user: ProviderUserRow): Promise<Recheck> {
  const provider = await findProvider(deps.db.query, user.provider);
  if (!provider?.isEnabled) return { kind: 'denied', reason: 'the provider is disabled' };
  if (provider.type === 'ldap') return deps.directory.askAgain(provider, user.subject);
  if (user.refresh_sealed === null) return { kind: 'denied', reason: 'the provider gave no refresh token' };
  const token = deps.sealer.open('refresh token', String(user.user_id), user.refresh_sealed);
  if (token === null) return { kind: 'denied', reason: 'the refresh token is sealed by another key' };
  return deps.oidc.askAgain(provider, user.subject, token);
}

/**
 * Stores the answer. A crash between the answer of the provider and this commit may lose a refresh token that the provider has
 * replaced: the next check is denied, and the user signs in again.
 */
async function apply(
  { db, sealer }: RecheckDeps,
  user: ProviderUserRow,
  answer: Exclude<Recheck, { kind: 'away' }>,
): Promise<void> {
  const userId = user.user_id;
  await db.tx(async (tx) => {
    await holdProvider(tx, user.provider);
    // A sign-in meanwhile knows better.
    if (!(await isUnchanged(tx, user))) return;
    const provider = await findProvider(tx, user.provider);
    const isKnown = answer.kind === 'known' && provider?.isEnabled === true;
    const groups = isKnown ? answer.identity.groups : [];
    const token = isKnown ? answer.refreshToken : null;
    await noteChecked(tx, userId, {
      groups,
      refreshSealed: token && sealer.seal('refresh token', String(userId), token),
      againMs: isKnown ? RECHECK_MS : NEVER_MS,
    });
    await replaceGrants(tx, [{ userId, grants: isKnown ? grantsOf(provider.mapping, groups) : noGrants }]);
    if (!isKnown) await deleteSessionsOf(tx, userId);
    await announceChange(tx, user.username);
  });
}
