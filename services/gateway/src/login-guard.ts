/**
 * Delays logins after failed ones. A pair of account and address, an address, and an account each have some free failures; each
 * further failure doubles a delay, during which further logins get 429 without a check of the password. An attacker cannot lock a
 * user out. Where an account has logged in before from an address, neither its failures elsewhere nor failures of other accounts at
 * that address count. A credential that was good a moment ago is not delayed.
 */
import { hash, randomBytes } from 'node:crypto';
import type { Cache } from '@baton/cache';
import { AppError, type Clock, isAppError } from '@baton/kernel';
import { LRUCache } from 'lru-cache';

export interface LoginGuardSettings {
  /** Free failures of one pair of account and address; an account and an address each have ten times as many. 0: no delays. */
  freeFailures: number;
  longestDelayMs: number;
}

export interface Login {
  username: string;
  password: string;
  address: string;
}

export interface LoginGuard {
  /** Runs `verify`, unless too many logins have failed. @throws AppError too_many_requests_error; the errors of `verify`. */
  guard<T>(login: Login, verify: () => Promise<T>): Promise<T>;
}

/** The failures of a counter are forgotten this long after the first of them. */
const WINDOW_MS = 15 * 60_000;
const FIRST_DELAY_MS = 1_000;
const WIDER = 10;
const KNOWN_MS = 30 * 24 * 60 * 60_000;
const GOOD_MS = 10 * 60_000;
const MAX_KEPT = 50_000;

type Scope = 'account and address' | 'account' | 'address';

interface Counted {
  scope: Scope;
  key: string;
  free: number;
}

interface Failures {
  count: number;
  untilMs: number;
}

/** `cache`: shared by the gateways; while it is unavailable, each gateway counts alone. */
export function createLoginGuard(deps: {
  cache: Cache;
  clock: Clock;
  settings: LoginGuardSettings;
}): LoginGuard {
  const { cache, clock, settings } = deps;
  const { freeFailures, longestDelayMs } = settings;
  const secret = randomBytes(32).toString('hex');
  const failures = createFailureCounts(cache, clock, longestDelayMs);
  const known = createKnownPairs(cache);
  const good = new LRUCache<string, true>({ max: MAX_KEPT, ttl: GOOD_MS });
  /** Different passwords of one pair whose checks are running: concurrent logins count before they have failed. */
  const trying = new Map<string, Map<string, number>>();

  /** Checks that no delay is running. @throws AppError too_many_requests_error */
  const admit = async ([pair, account, address]: Counted[]): Promise<void> => {
    const [ofPair, ofAccount, ofAddress, hasBeenHere] = await Promise.all([
      failures.untilOf(pair!),
      failures.untilOf(account!),
      failures.untilOf(address!),
      known.has(pair!),
    ]);
    const nowMs = clock.now();
    if (ofPair > nowMs) throw delayed(pair!, ofPair - nowMs);
    if (hasBeenHere) return;
    if (ofAccount > nowMs) throw delayed(account!, ofAccount - nowMs);
    if (ofAddress > nowMs) throw delayed(address!, ofAddress - nowMs);
  };

  return {
    async guard(login, verify) {
      if (freeFailures === 0) return await verify();
      const credential = digest(`${secret}${login.username.length}:${login.username}${login.password}`);
      const scopes = scopesOf(login, freeFailures);
      const pair = scopes[0]!;
      if (!good.has(credential)) await admit(scopes);
      const leave = enter(trying, pair, credential, failures.countOf(pair));
      try {
        const answer = await verify();
        good.set(credential, true);
        await failures.forget(pair);
        await known.add(pair);
        return answer;
      } catch (error) {
        if (isAppError(error, 'unauthorized_error')) {
          good.delete(credential);
          await Promise.all(scopes.map(failures.add));
        }
        throw error;
      } finally {
        leave();
      }
    },
  };
}

function scopesOf({ username, address }: Login, freeFailures: number): Counted[] {
  // Unknown accounts count like known ones, so that the answers do not show which accounts exist. Names are hashed: they come from
  // outside.
  const account = digest(username.toLowerCase());
  return [
    { scope: 'account and address', key: `p:${account}:${address}`, free: freeFailures },
    { scope: 'account', key: `a:${account}`, free: WIDER * freeFailures },
    { scope: 'address', key: `i:${address}`, free: WIDER * freeFailures },
  ];
}

interface FailureCounts {
  /** Failures that this gateway knows of. */
  countOf(counted: Counted): number;
  /** Epoch ms at which the delay ends; 0 or a time in the past: no delay. */
  untilOf(counted: Counted): Promise<number>;
  add(counted: Counted): Promise<void>;
  forget(counted: Counted): Promise<void>;
}

function createFailureCounts(cache: Cache, clock: Clock, longestDelayMs: number): FailureCounts {
  const local = new LRUCache<string, Failures>({ max: MAX_KEPT, ttl: WINDOW_MS, noUpdateTTL: true });
  return {
    countOf: ({ key }) => local.get(key)?.count ?? 0,
    untilOf: async ({ key }) => {
      const mine = local.get(key)?.untilMs ?? 0;
      if (mine > clock.now()) return mine;
      return Number((await cache.get(`login:until:${key}`)) ?? 0);
    },
    add: async ({ key, free }) => {
      const before = local.get(key)?.count ?? 0;
      // Stored before the shared counter answers: logins that are running must see it.
      local.set(key, { count: before + 1, untilMs: local.get(key)?.untilMs ?? 0 });
      const shared = await cache.increment(`login:failed:${key}`, WINDOW_MS);
      const count = Math.max(shared, local.get(key)?.count ?? 0);
      const over = count - free;
      const delayMs = over <= 0 ? 0 : Math.min(longestDelayMs, FIRST_DELAY_MS * 2 ** Math.min(30, over - 1));
      const untilMs = delayMs === 0 ? 0 : clock.now() + delayMs;
      local.set(key, { count, untilMs });
      if (delayMs > 0) await cache.set(`login:until:${key}`, String(untilMs), delayMs);
    },
    forget: async ({ key }) => {
      if (local.delete(key)) await cache.delete(`login:failed:${key}`);
    },
  };
}

/** Pairs of account and address that have logged in before. */
interface KnownPairs {
  has(pair: Counted): Promise<boolean>;
  add(pair: Counted): Promise<void>;
}

function createKnownPairs(cache: Cache): KnownPairs {
  const known = new LRUCache<string, true>({ max: MAX_KEPT, ttl: KNOWN_MS });
  return {
    has: async ({ key }) => {
      if (known.has(key)) return true;
      if ((await cache.get(`login:known:${key}`)) === null) return false;
      known.set(key, true);
      return true;
    },
    add: async ({ key }) => {
      if (known.has(key)) return;
      known.set(key, true);
      await cache.set(`login:known:${key}`, '1', KNOWN_MS);
    },
  };
}

const digest = (text: string): string => hash('sha256', text, 'base64url').slice(0, 32);

/**
 * Registers a running login.
 * @throws AppError too_many_requests_error when the different passwords that are being checked at once may use up the free
 * failures.
 */
function enter(
  trying: Map<string, Map<string, number>>,
  pair: Counted,
  credential: string,
  failures: number,
): () => void {
  const passwords = trying.get(pair.key) ?? new Map<string, number>();
  const isNew = !passwords.has(credential);
  if (isNew && passwords.size > 0 && failures + passwords.size >= pair.free)
    throw delayed(pair, FIRST_DELAY_MS);
  trying.set(pair.key, passwords);
  passwords.set(credential, (passwords.get(credential) ?? 0) + 1);
  return () => {
    const left = passwords.get(credential)! - 1;
    if (left > 0) passwords.set(credential, left);
    else passwords.delete(credential);
    if (passwords.size === 0) trying.delete(pair.key);
  };
}

function delayed({ scope, free }: Counted, waitMs: number): AppError {
  return new AppError('too_many_requests_error', 'Too many logins have failed; wait before the next', {
    scope,
    limit: free,
    what: 'failed logins in a row',
    expected: `at most ${free} failed logins of one ${scope}`,
    retry_after: Math.max(1, Math.ceil(waitMs / 1000)),
  });
}
