/** What identity asks a directory (LDAP v3, RFC 4511): whether a password is good, and which groups somebody is in. */
import { randomBytes } from 'node:crypto';
import { Secret } from '@baton/kernel';
import { AndFilter, EqualityFilter, type Filter, OrFilter } from 'ldapts';
import { MAX_GROUPS, type ProviderIdentity } from '../domain/claims';
import {
  DISABLED_MARKS,
  guidBytes,
  isDisabled,
  isGuid,
  type LdapEntry,
  subjectOf,
  textsOf,
} from '../domain/ldap-entry';
import { LoginFailure } from '../domain/login-failure';
import type { LdapProvider } from '../domain/provider';
import { BindRefused, type DirectoryConnection } from './ldap-connection';
import { filledFilter } from './ldap-filter';
import type { LdapPool, Use } from './ldap-pool';
import type { Recheck } from './oidc-client';

/** A sign-in is answered in this time: gateways give up after five seconds. */
const SIGN_IN_MS = 3_500;
const RECHECK_MS = 10_000;
/** Groups in groups are followed this far. */
const MAX_DEPTH = 10;
/** Groups whose groups are asked for with one search. */
const BATCH = 100;
const MAX_GROUP_LENGTH = 1_024;

/** Who is looked for: a name that was typed, or a user that identity knows. */
export type Sought = { username: string } | { subject: string };

export interface Directory {
  /**
   * Returns who has this password; null: nobody whom the provider takes.
   * @throws ProviderUnreached; LoginFailure; AppError too_many_requests_error
   */
  signIn(provider: LdapProvider, sought: Sought, password: Secret): Promise<ProviderIdentity | null>;
  /** Takes the same steps as `signIn` for a name that nobody has. Its answer says nothing. @throws as signIn */
  pretend(provider: LdapProvider, name: string): Promise<void>;
  /** Asks again about a user, without a password. Throws nothing: an answer that cannot be read is `away`. */
  askAgain(provider: LdapProvider, subject: string): Promise<Recheck>;
}

export function createDirectory(pool: LdapPool): Directory {
  return {
    signIn: (provider, sought, password) =>
      pool.use(provider, signInOf(nameOf(sought)), async (connection, bindAgain) => {
        const user = await findUser(connection, provider, sought);
        if (!user) return nobody(connection, provider);
        if (!(await isPassword(connection, user.entry.dn, password))) return null;
        await bindAgain();
        return identify(connection, provider, user);
      }),
    pretend: (provider, name) =>
      pool.use(provider, signInOf(name.toLowerCase()), async (connection) => {
        await findUser(connection, provider, { username: randomName() });
        await nobody(connection, provider);
      }),
    async askAgain(provider, subject) {
      try {
        return await pool.use(provider, checkOf(subject), async (connection) => {
          const user = await findUser(connection, provider, { subject });
          if (!user) return { kind: 'denied', reason: 'the directory has no such user, or has disabled it' };
          const identity = await identify(connection, provider, user);
          return { kind: 'known', identity, refreshToken: null };
        });
      } catch (error) {
        return { kind: 'away', reason: error instanceof Error ? error.message : 'an unknown fault' };
      }
    },
  };
}

const signInOf = (name: string): Use => ({ name, deadlineMs: SIGN_IN_MS, queue: 'signIns' });
const checkOf = (name: string): Use => ({ name, deadlineMs: RECHECK_MS, queue: 'checks' });
const randomName = (): string => `x${randomBytes(12).toString('hex')}`;
const nameOf = (sought: Sought): string =>
  'username' in sought ? sought.username.toLowerCase() : sought.subject;

interface FoundUser {
  entry: LdapEntry;
  subject: string;
  username: string | null;
}

/**
 * Finds the one entry of a user; undefined: none, or a disabled one.
 * @throws LoginFailure when several are found, or the entry lacks what a user needs
 */
async function findUser(
  connection: DirectoryConnection,
  provider: LdapProvider,
  sought: Sought,
): Promise<FoundUser | undefined> {
  const { usernameAttribute, subjectAttribute } = provider;
  const [entry, another] = await connection.search(provider.userBase, {
    filter: filterOf(provider, sought),
    attributes: [
      usernameAttribute,
      isGuid(subjectAttribute) ? 'objectGUID' : subjectAttribute,
      ...DISABLED_MARKS,
    ],
    most: 1,
  });
  if (!entry || isDisabled(entry)) return undefined;
  if (another) throw new LoginFailure('bad_answer', 'the directory has several entries for one user');
  // A bind with an empty name is good for every password (RFC 4513, section 5.1.2).
  if (!entry.dn.includes('=')) throw new LoginFailure('bad_answer', 'the entry of a user has no name');
  const subject = subjectOf(entry, subjectAttribute);
  if (subject === null)
    throw new LoginFailure('bad_answer', `attribute ${subjectAttribute} of a user is no identity`);
  return { entry, subject, username: usernameOf(textsOf(entry, usernameAttribute), sought) };
}

/** By its identity a user is found whatever its name is; the other conditions of the filter stay. */
function filterOf({ userFilter, subjectAttribute }: LdapProvider, sought: Sought): Filter {
  if ('username' in sought) return filledFilter(userFilter, { username: sought.username });
  const { subject } = sought;
  const value = isGuid(subjectAttribute) ? (guidBytes(subject) ?? subject) : subject;
  return new AndFilter({
    filters: [
      filledFilter(userFilter, { username: null }),
      new EqualityFilter({ attribute: subjectAttribute, value }),
    ],
  });
}

/** Of several names that which was typed, as the directory writes it. A filter may find a user by more than its name. */
function usernameOf(names: readonly string[], sought: Sought): string | null {
  if (!('username' in sought)) return names[0] ?? null;
  const typed = sought.username.toLowerCase();
  return names.find((name) => name.toLowerCase() === typed) ?? null;
}

const isPassword = (connection: DirectoryConnection, dn: string, password: Secret): Promise<boolean> =>
  connection.bind(dn, password).then(
    () => true,
    (error: unknown) => {
      if (error instanceof BindRefused) return false;
      throw error;
    },
  );

/** Binds as somebody who does not exist: a name that nobody has takes the time of a wrong password. */
async function nobody(connection: DirectoryConnection, { userBase }: LdapProvider): Promise<null> {
  await isPassword(connection, `cn=${randomName()},${userBase}`, new Secret(randomName()));
  return null;
}

async function identify(
  connection: DirectoryConnection,
  provider: LdapProvider,
  { entry, subject, username }: FoundUser,
): Promise<ProviderIdentity> {
  return { subject, username, groups: await groupsOf(connection, provider, entry) };
}

/**
 * Returns the names of the groups of a user, and of the groups of these, each once.
 * @throws LoginFailure for more than MAX_GROUPS: without all of them a role could stay by mistake
 */
async function groupsOf(
  connection: DirectoryConnection,
  provider: LdapProvider,
  user: LdapEntry,
): Promise<string[]> {
  const { groupBase, groupFilter, groupNameAttribute, hasNestedGroups } = provider;
  if (groupBase === null) return [];
  const username = textsOf(user, provider.usernameAttribute)[0] ?? '';
  const groups = new Map<string, LdapEntry>();
  const depth = hasNestedGroups ? MAX_DEPTH : 1;
  for (let level = 0, members = [user.dn]; level < depth && members.length > 0; level++) {
    const added: string[] = [];
    for (let at = 0; at < members.length; at += BATCH) {
      const filters = members.slice(at, at + BATCH).map((dn) => filledFilter(groupFilter, { dn, username }));
      const filter = new OrFilter({ filters });
      const asked = { filter, attributes: [groupNameAttribute], most: MAX_GROUPS };
      for (const group of await connection.search(groupBase, asked)) {
        const key = group.dn.toLowerCase();
        // A cycle of groups comes back to one that is known.
        if (!groups.has(key)) added.push(group.dn);
        groups.set(key, group);
      }
      if (groups.size > MAX_GROUPS)
        throw new LoginFailure('bad_answer', `a user is in more than ${MAX_GROUPS} groups`);
    }
    members = added;
  }
  return namesOf([...groups.values()], groupNameAttribute);
}

const namesOf = (groups: readonly LdapEntry[], attribute: string): string[] => {
  const names = groups.flatMap((group) =>
    attribute.toLowerCase() === 'dn' ? group.dn : textsOf(group, attribute),
  );
  return [...new Set(names)].filter((name) => name !== '' && name.length <= MAX_GROUP_LENGTH);
};
