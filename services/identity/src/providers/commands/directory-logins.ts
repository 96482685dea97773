/**
 * Sign-ins with a name and a password of a directory. The password is checked by a bind there and kept nowhere: a good answer is
 * remembered for a minute under a key of this process, so that clients with Basic authentication do not bind with each request.
 * A refusal takes the same steps and time whether the name is one of Baton, one of a directory, or none.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { afterDelay, type Clock, isAppError, type Log, Secret } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { LRUCache } from 'lru-cache';
import type { Passwords } from '../../adapters/passwords';
import { listProviders } from '../../store/identity-providers.sql';
import type { DB as Tables } from '../../store/tables.gen';
import type { Directory, Sought } from '../adapters/directory';
import { ProviderUnreached } from '../adapters/provider-fetch';
import { storedLdap } from '../domain/ldap-settings';
import { LoginFailure } from '../domain/login-failure';
import type { LdapProvider } from '../domain/provider';
import { subjectOf } from '../store/provider-users.sql';
import { admitDirectoryUser } from './admit-directory-user';

/** A password that was changed at the directory is good for so long where it was used just before. */
const REMEMBER_MS = 60_000;
const MAX_REMEMBERED = 10_000;
/** A refusal takes at least this long: longer than a bind at a directory that is well. */
const LEAST_REFUSAL_MS = 500;
/** And at most this long: gateways give up after five seconds, and do not count the failure then. */
const MOST_REFUSAL_MS = 4_000;
const MAX_PASSWORD = 1_024;

export interface DirectoryLogin {
  username: string;
  password: string;
}

/** A user of identity, and the provider that it belongs to. */
export interface DirectoryOwner {
  userId: number;
  provider: string;
}

export interface DirectoryLogins {
  /**
   * Checks the password at the directory of `owner`; without one, at each directory that makes users. After a good answer the user
   * exists, with the roles of its groups, unless the answer was remembered. Null: refused.
   * @throws AppError too_many_requests_error when the password was judged nowhere
   */
  check(
    login: DirectoryLogin,
    owner: DirectoryOwner | null,
  ): Promise<{ userId: number; isRemembered: boolean } | null>;
  /** Takes the steps of a refusal, for a name that no directory is asked for. */
  pretend(username: string): Promise<void>;
}

export interface DirectoryLoginsDeps {
  db: Db<Tables>;
  passwords: Pick<Passwords, 'hash'>;
  directory: Directory;
  clock: Pick<Clock, 'now'>;
  log: Log;
}

export function createDirectoryLogins(deps: DirectoryLoginsDeps): DirectoryLogins {
  const memory = createMemory(deps.clock);

  const ofKnown = async (login: DirectoryLogin, owner: DirectoryOwner, provider: LdapProvider) => {
    const key = memory.keyOf(provider, owner.userId, login.password);
    if (memory.has(owner.userId, key)) return { userId: owner.userId, isRemembered: true };
    const userId = await memory.once(key, async () => {
      const subject = await subjectOf(deps.db.query, owner.userId);
      return subject === null ? null : signIn(deps, provider, { subject }, login);
    });
    if (userId !== owner.userId) return null;
    memory.add(owner.userId, key);
    return { userId, isRemembered: false };
  };
  const ofUnknown = async (login: DirectoryLogin, providers: readonly LdapProvider[]) => {
    const { username } = login;
    const answers = await Promise.allSettled(providers.map((one) => signIn(deps, one, { username }, login)));
    const values = answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const [fault] = answers.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    // Where one directory was asked, the password was judged: this failure must count.
    if (values.length === 0 && fault !== undefined) throw fault;
    const userId = values.find((one) => one !== null) ?? null;
    return userId === null ? null : { userId, isRemembered: false };
  };
  /** Ends a refusal: the directories that were not asked are asked for nobody, and some time passes. */
  const refuse = async (
    username: string,
    directories: { all: readonly LdapProvider[]; asked: readonly LdapProvider[] },
    startedMs: number,
  ) => {
    const { all, asked } = directories;
    if (all.length === 0) return;
    const others = all.filter((one) => !asked.includes(one));
    const steps = Promise.all(others.map((provider) => pretendAt(deps, provider, username)));
    await atMost(startedMs + MOST_REFUSAL_MS - deps.clock.now(), steps);
    await atMost(startedMs + LEAST_REFUSAL_MS - deps.clock.now());
  };
  return {
    async check(login, owner) {
      const startedMs = deps.clock.now();
      const all = await enabledDirectories(deps.db);
      const isUsable = login.password !== '' && login.password.length <= MAX_PASSWORD;
      const asked = isUsable ? all.filter((one) => isAsked(one, owner)) : [];
      const [first] = asked;
      const good =
        owner === null ? await ofUnknown(login, asked) : first ? await ofKnown(login, owner, first) : null;
      if (good) return good;
      await refuse(login.username, { all, asked }, startedMs);
      return null;
    },
    async pretend(username) {
      const startedMs = deps.clock.now();
      await refuse(username, { all: await enabledDirectories(deps.db), asked: [] }, startedMs);
    },
  };
}

/** A known user is asked for at its own provider, an unknown name at those that make users. */
const isAsked = ({ id, provision }: LdapProvider, owner: DirectoryOwner | null): boolean =>
  owner === null ? provision === 'jit' : id === owner.provider;

async function enabledDirectories(db: Db<Tables>): Promise<LdapProvider[]> {
  return (await listProviders(db.query)).flatMap((one) => (one.type === 'ldap' && one.isEnabled ? one : []));
}

/** Returns the id of the user whom the directory has named; null: refused, or the directory is away. */
async function signIn(
  deps: DirectoryLoginsDeps,
  provider: LdapProvider,
  sought: Sought,
  { username, password }: DirectoryLogin,
): Promise<number | null> {
  return unlessAway(deps.log, provider, async () => {
    const identity = await deps.directory.signIn(provider, sought, new Secret(password));
    return identity && admitDirectoryUser(deps, provider.id, identity, username);
  });
}

/** Throws nothing: the password was judged elsewhere, and its refusal must count. */
const pretendAt = (deps: DirectoryLoginsDeps, provider: LdapProvider, username: string): Promise<unknown> =>
  unlessAway(deps.log, provider, () => deps.directory.pretend(provider, username)).catch((error: unknown) => {
    if (!isAppError(error, 'too_many_requests_error')) throw error;
  });

/** A directory that is away, and a user who is not taken, are told to administrators alone. */
async function unlessAway<T>(log: Log, provider: LdapProvider, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    const isAway = error instanceof ProviderUnreached;
    if (!isAway && !(error instanceof LoginFailure)) throw error;
    const code = isAway ? 'provider_away' : error.code;
    const reason = isAway ? error.message : error.reason;
    log.warn({ provider: provider.id, code, reason }, 'sign-in at a provider refused');
    return null;
  }
}

/** Waits for the work, and not longer than this; without work, for this time. */
async function atMost(waitMs: number, work?: Promise<unknown>): Promise<void> {
  let cancel = (): void => undefined;
  const patience = new Promise<void>((resolve) => {
    cancel = afterDelay(Math.max(0, waitMs), resolve);
  });
  await (work === undefined ? patience : Promise.race([work, patience]).finally(() => cancel()));
}

/**
 * Good answers of the last minute, one for each user: a new password replaces the old one. No password is in it: only HMACs under a key
 * of this process.
 */
function createMemory(clock: Pick<Clock, 'now'>) {
  const secret = randomBytes(32);
  const good = new LRUCache<number, { key: string; untilMs: number }>({ max: MAX_REMEMBERED });
  const underWay = new Map<string, Promise<number | null>>();
  return {
    /** Other settings of the provider are another key. */
    keyOf: (provider: LdapProvider, userId: number, password: string): string =>
      createHmac('sha256', secret)
        .update(JSON.stringify([provider.id, storedLdap(provider), provider.caCertificate, userId, password]))
        .digest('base64'),
    has: (userId: number, key: string): boolean => {
      const known = good.get(userId);
      return known !== undefined && known.key === key && known.untilMs > clock.now();
    },
    add: (userId: number, key: string): void => {
      good.set(userId, { key, untilMs: clock.now() + REMEMBER_MS });
    },
    /** Requests of one client at once share one bind. */
    once: (key: string, ask: () => Promise<number | null>): Promise<number | null> => {
      const known = underWay.get(key);
      if (known) return known;
      const asking = ask().finally(() => underWay.delete(key));
      underWay.set(key, asking);
      return asking;
    },
  };
}
