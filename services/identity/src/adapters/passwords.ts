import { createHmac, randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { type Clock, systemClock } from '@baton/kernel';
import { hash as argon2Hash, verify as argon2Verify } from '@node-rs/argon2';
import { LRUCache } from 'lru-cache';
import { createFairQueue } from './fair-queue';
import { isStoredOldHash, noOldPasswords, type OldPasswords } from './old-passwords';

/** argon2id at the library's defaults (19 MiB, 2 passes): 11 to 19 ms on this generation of machines. */
export interface Passwords {
  hash(password: string): Promise<string>;
  /** Whether `password` belongs to `hash`. A good answer is remembered for seconds. */
  verify(
    hash: string,
    password: string,
    username?: string,
  ): Promise<{ isGood: boolean; isRemembered: boolean }>;
  /** Takes the same time as `verify`, for users that do not exist. */
  verifyNothing(password: string, username?: string): Promise<void>;
}

export interface PasswordOptions {
  /** How long a verified password is remembered and not computed again. */
  rememberMs?: number;
  /** Most verifications that run or wait; more are refused, so that a flood of logins cannot take all memory. */
  maxPending?: number;
  /** Verifications at the same time; default half of the processors. */
  atOnce?: number;
  clock?: Clock;
  /** Checks hashes that imported users bring. */
  old?: Pick<OldPasswords, 'verify'>;
}

const REMEMBER_MS = 30_000;
const MAX_REMEMBERED = 10_000;
const MAX_PENDING = 64;
/** Most pending verifications of one user name: an attacker who guesses the password of one account delays only that account. */
const MAX_PENDING_OF_NAME = 8;

/**
 * Hashes passwords for one process. Remembered answers are keyed by an HMAC (with a key of this process) over the stored hash and
 * the password, so a changed password never matches the old entry, on any replica and without a message.
 */
export function createPasswords(options: PasswordOptions = {}): Passwords {
  const key = randomBytes(32);
  const clock = options.clock ?? systemClock;
  const rememberMs = options.rememberMs ?? REMEMBER_MS;
  const remembered = new LRUCache<string, number>({ max: MAX_REMEMBERED });
  const underWay = new Map<string, Promise<boolean>>();
  let nobody: Promise<string> | undefined;
  const queue = createFairQueue({
    atOnce: options.atOnce ?? Math.max(1, Math.floor(availableParallelism() / 2)),
    maxPending: options.maxPending ?? MAX_PENDING,
    maxPendingOfName: MAX_PENDING_OF_NAME,
  });

  const old = options.old ?? noOldPasswords;
  const nothing = (): Promise<string> => (nobody ??= argon2Hash(randomBytes(16).toString('hex')));
  // An old hash is computed beside a new one that nobody has, so that the time tells neither that the user exists nor was imported.
  const computeOld = async (hash: string, password: string): Promise<boolean> => {
    const [isGood] = await Promise.all([
      old.verify(hash, password),
      nothing().then((one) => argon2Verify(one, password)),
    ]);
    return isGood;
  };
  const compute = (hash: string, password: string, username: string): Promise<boolean> =>
    queue.run(username.toLowerCase(), () =>
      isStoredOldHash(hash) ? computeOld(hash, password) : argon2Verify(hash, password),
    );

  const verify = async (
    hash: string,
    password: string,
    username = '',
  ): Promise<{ isGood: boolean; isRemembered: boolean }> => {
    const entry = createHmac('sha256', key).update(hash).update('\0').update(password).digest('base64');
    if ((remembered.get(entry) ?? 0) > clock.now()) return { isGood: true, isRemembered: true };
    // Concurrent requests of one client share one computation.
    let computing = underWay.get(entry);
    if (!computing) {
      computing = compute(hash, password, username).finally(() => underWay.delete(entry));
      underWay.set(entry, computing);
    }
    const isGood = await computing;
    if (isGood) remembered.set(entry, clock.now() + rememberMs);
    return { isGood, isRemembered: false };
  };

  return {
    hash: (password) => argon2Hash(password),
    verify,
    verifyNothing: async (password, username = '') => {
      await compute(await nothing(), password, username);
    },
  };
}

/** Whether `text` is a hash that `verify` understands (for users restored with `is_prehashed`). */
export function isPasswordHash(text: string): boolean {
  return /^\$argon2(id|i|d)\$v=\d+\$m=\d{1,7},t=\d{1,3},p=\d{1,2}\$[A-Za-z0-9+/]{11,}\$[A-Za-z0-9+/]{22,}$/.test(
    text,
  );
}
