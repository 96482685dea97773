import { AppError, Secret } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { newToken } from '../../domain/token';
import type { DB as Tables } from '../../store/tables.gen';
import { LOGIN_MS, MOST_OF_ADDRESS, MOST_OPEN } from '../domain/device-login';
import { type CodeHash, newUserCode } from '../domain/user-code';
import { countOpen, insertLogin, lockBeginnings } from '../store/device-logins.sql';

interface Deps {
  db: Db<Tables>;
  codeHash: CodeHash;
}

export interface BegunLogin {
  /** Shown once to the program; only its hash is stored. */
  deviceCode: Secret;
  userCode: string;
}

/** Two codes are hardly ever the same; three draws in a row are not. */
const DRAWS = 3;

/**
 * Begins a login that a program asks for. A crash after the commit leaves a login that nobody knows; `commands/purge-logins.ts`
 * deletes it after ten minutes.
 * @throws AppError too_many_requests_error when the address, or all together, have too many open
 */
export async function beginLogin(
  { db, codeHash }: Deps,
  clientName: string,
  address: string,
): Promise<BegunLogin> {
  return db.tx(async (tx) => {
    await lockBeginnings(tx);
    const { mine, all } = await countOpen(tx, address);
    if (mine >= MOST_OF_ADDRESS) throw tooMany('address', MOST_OF_ADDRESS);
    if (all >= MOST_OPEN) throw tooMany('manager', MOST_OPEN);
    for (let draw = 0; draw < DRAWS; draw++) {
      const { id, value, secretHash } = newToken('bdev');
      const userCode = newUserCode();
      const row = { id, secretHash, userCodeHash: codeHash(userCode), clientName, address, lifeMs: LOGIN_MS };
      if (await insertLogin(tx, row)) return { deviceCode: new Secret(value), userCode };
    }
    throw tooMany('manager', MOST_OPEN);
  });
}

/** The oldest open login may be nearly ten minutes old, or was just begun: a minute is a fair guess. */
const RETRY_S = 60;

function tooMany(scope: 'address' | 'manager', limit: number): AppError {
  const what = 'logins of programs that wait for a person';
  return new AppError('too_many_requests_error', `One ${scope} has more than ${limit} ${what}`, {
    limit,
    scope,
    what,
    expected: `at most ${limit} ${what} of one ${scope}`,
    retry_after: RETRY_S,
  });
}
