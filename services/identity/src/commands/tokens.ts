import { AppError, isoInstant, notFound } from '@baton/kernel';
import type { Db, Tx } from '@baton/postgres';
import { isServiceAccount } from '../accounts/store/accounts.sql';
import { requireText } from '../domain/checks';
import { requireExpiration } from '../domain/expiration';
import { newToken } from '../domain/token';
import type { DB as Tables } from '../store/tables.gen';
import {
  deleteExpiredTokensOf,
  deleteLongExpiredTokens,
  deleteToken,
  insertToken,
  trimSessionTokens,
} from '../store/tokens.sql';
import { announceChange } from './announce';

/** Lifetime of a token obtained by GET /tokens (reference/rest-api.md 2.3, line E). */
const SESSION_MS = 36_000_000;
/** Expired tokens stay readable for a while, so that their owners see why they are refused. */
const KEEP_MS = 7 * 24 * 3_600_000;
const PURGE_BATCH = 1_000;

interface Deps {
  db: Db<Tables>;
  /** Returns the current time by the clock of the database. */
  nowMs: () => Promise<number>;
}

export interface CreatedToken {
  id: string;
  /** Token with its secret; the secret cannot be read again later. */
  value: string;
  description: string | null;
  expirationDate: string | null;
}

/**
 * Creates a token for the caller. A service account gets none: a token of 15 minutes must not make one without an end.
 * @throws AppError forbidden_error; bad_parameters_error
 */
export async function createOwnToken(
  deps: Deps,
  userId: number,
  wish: Parameters<typeof createToken>[2],
): Promise<CreatedToken> {
  if (await isServiceAccount(deps.db.query, userId))
    throw new AppError('forbidden_error', 'A service account makes no tokens; administrators make them', {
      expected: 'POST /service-accounts/{name}/tokens by an administrator, or POST /token-exchange',
    });
  return createToken(deps, userId, wish);
}

/** Creates a token, after deleting the user's expired tokens. @throws AppError bad_parameters_error */
export async function createToken(
  deps: Deps,
  userId: number,
  wish: { description?: string | null; expirationDate?: string | null },
): Promise<CreatedToken> {
  const description = wish.description ? requireText('description', wish.description) : null;
  const expirationDate = wish.expirationDate
    ? isoInstant(requireExpiration(wish.expirationDate, await deps.nowMs()))
    : null;
  return storeToken(deps, userId, { description, expirationDate, isSession: false });
}

/** Creates the token that GET /tokens returns: it ends after 10 hours, or with a change of the password. */
export async function createSessionToken(deps: Deps, userId: number): Promise<CreatedToken> {
  const expirationDate = isoInstant((await deps.nowMs()) + SESSION_MS);
  return storeToken(deps, userId, { description: null, expirationDate, isSession: true });
}

type TokenToStore = Pick<CreatedToken, 'description' | 'expirationDate'> & { isSession: boolean };

/** Stores a new token of the user, after deleting the user's expired tokens. */
export async function storeToken(
  deps: Pick<Deps, 'db'>,
  userId: number,
  wish: TokenToStore,
): Promise<CreatedToken> {
  return deps.db.tx((tx) => storeTokenIn(tx, userId, wish));
}

/** Like `storeToken`, in a transaction that does more. */
export async function storeTokenIn(
  tx: Tx<Tables>,
  userId: number,
  { description, expirationDate, isSession }: TokenToStore,
): Promise<CreatedToken> {
  const token = newToken();
  await deleteExpiredTokensOf(tx, userId);
  await insertToken(tx, {
    id: token.id,
    user_id: userId,
    secret_hash: token.secretHash,
    description,
    expiration_date: expirationDate,
    is_session: isSession,
  });
  if (isSession) await trimSessionTokens(tx, userId);
  return { id: token.id, value: token.value, description, expirationDate };
}

/** Revokes a token of `ownerId`, or of any user when null. @throws AppError not_found_error */
export async function revokeToken(deps: Pick<Deps, 'db'>, id: string, ownerId: number | null): Promise<void> {
  await deps.db.tx(async (tx) => {
    const username = await deleteToken(tx, id, ownerId);
    if (username === undefined) throw notFound('Token', id);
    await announceChange(tx, username);
  });
}

/** Deletes tokens that expired a week ago, at most 1,000. `again`: there may be more. Any number of replicas may do it at once. */
export async function purgeExpiredTokens({ db }: Pick<Deps, 'db'>): Promise<{ again: boolean }> {
  const count = await deleteLongExpiredTokens(db.query, KEEP_MS, PURGE_BATCH);
  return { again: count === PURGE_BATCH };
}
