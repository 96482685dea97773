import { AppError, isoInstant, type Log } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { storeTokenIn } from '../../commands/tokens';
import { hashSecret, parseToken } from '../../domain/token';
import { holdUser } from '../../store/sessions.sql';
import type { DB as Tables } from '../../store/tables.gen';
import { tokenDescription } from '../domain/device-login';
import { notePoll, takeApproved } from '../store/device-logins.sql';

interface Deps {
  db: Db<Tables>;
  deviceTokenLifeMs: number;
  nowMs: () => Promise<number>;
}

export interface RedeemedLogin {
  username: string;
  tokenId: string;
  value: string;
  lifeMs: number;
  expirationDate: string;
}

/**
 * Returns the token of an approved login, once (RFC 8628, section 3.5). Token and end of the login are one transaction. After a crash
 * behind its commit the token is in nobody's hands: it stands in the list of the user's tokens until it ends, and the program asks
 * anew.
 * @param onUser called with the name of the user before the transaction begins
 * @throws AppError authorization_pending, slow_down, access_denied, expired_token
 */
export async function redeemLogin(
  deps: Deps,
  log: Log,
  deviceCode: string,
  onUser: (username: string) => void,
): Promise<RedeemedLogin> {
  const parsed = parseToken(deviceCode, 'bdev');
  const found = parsed && (await notePoll(deps.db.query, parsed.id, hashSecret(parsed.secret)));
  if (!parsed || !found) throw over();
  const interval = { interval: found.interval_s };
  if (found.is_early)
    throw new AppError('slow_down', 'The program asks too often; it must wait longer', interval);
  if (found.state === 'denied') throw denied();
  const { approved_by: userId, username } = found;
  if (userId === null || username === null)
    throw new AppError('authorization_pending', 'Nobody has approved this login yet', interval);
  onUser(username);
  const redeemed = await makeToken(deps, parsed.id, userId);
  log.info({ username, tokenId: redeemed.tokenId }, 'program logged in');
  return { ...redeemed, username };
}

async function makeToken(
  deps: Deps,
  loginId: string,
  userId: number,
): Promise<Omit<RedeemedLogin, 'username'>> {
  const lifeMs = deps.deviceTokenLifeMs;
  const expirationDate = isoInstant((await deps.nowMs()) + lifeMs);
  const token = await deps.db.tx(async (tx) => {
    // Locks the user first, in the same order as every change of the account.
    if (!(await holdUser(tx, userId, null))) throw denied();
    const login = await takeApproved(tx, loginId, userId);
    if (!login) throw over();
    const description = tokenDescription(login.client_name, login.address, login.created_at);
    return storeTokenIn(tx, userId, { description, expirationDate, isSession: false });
  });
  return { tokenId: token.id, value: token.value, lifeMs, expirationDate };
}

/** One text for codes that are old, used or unknown: it shows none of them. */
const over = (): AppError => new AppError('expired_token', 'This login is over; begin a new one');

const denied = (): AppError => new AppError('access_denied', 'The login was denied');
