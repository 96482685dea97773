/** Tries one server of a directory as sign-ins use it, step by step. */
import { PresenceFilter } from 'ldapts';
import { isGuid, subjectOf, textsOf } from '../domain/ldap-entry';
import type { LdapProvider } from '../domain/provider';
import { type DirectoryConnection, DirectoryFault } from './ldap-connection';
import { filledFilter } from './ldap-filter';
import { AccountRefused, type LdapPool } from './ldap-pool';
import { AddressRefused } from './provider-fetch';

const PROBE_MS = 5_000;
/** Entries that are counted. */
const MOST = 100;

export interface Counted {
  found: number;
  isMore: boolean;
}

export interface ProbeResult {
  url: string;
  /** The step that failed, or done. */
  step: 'address' | 'connection' | 'bind' | 'users' | 'groups' | 'done';
  /** Clause about the failure. */
  why: string;
  users: Counted;
  groups: Counted;
  warnings: string[];
}

/** Throws nothing: a failure is a result. */
export type DirectoryProbe = (provider: LdapProvider, url: string) => Promise<ProbeResult>;

export function createDirectoryProbe(pool: Pick<LdapPool, 'connect'>): DirectoryProbe {
  return async (provider, url) => {
    const none = { found: 0, isMore: false };
    const result: ProbeResult = { url, step: 'connection', why: '', users: none, groups: none, warnings: [] };
    let connection: DirectoryConnection | undefined;
    try {
      connection = await pool.connect(provider, url, AbortSignal.timeout(PROBE_MS));
      result.step = 'users';
      await countUsers(connection, provider, result);
      result.step = 'groups';
      await countGroups(connection, provider, result);
      result.step = 'done';
    } catch (error) {
      if (error instanceof AccountRefused) result.step = 'bind';
      if (error instanceof AddressRefused) result.step = 'address';
      result.why = whyOf(error, result.step);
    } finally {
      connection?.close();
    }
    return result;
  };
}

const NO_SUCH_OBJECT = 32;

function whyOf(error: unknown, step: ProbeResult['step']): string {
  if (error instanceof DirectoryFault && error.code === NO_SUCH_OBJECT)
    return step === 'groups'
      ? 'it has no entry group_base'
      : 'it has no entry user_base, or bind_dn may not read it';
  return error instanceof Error ? error.message : 'an unknown fault';
}

async function countUsers(
  connection: DirectoryConnection,
  provider: LdapProvider,
  result: ProbeResult,
): Promise<void> {
  const { usernameAttribute, subjectAttribute, userBase, userFilter } = provider;
  const users = await connection.search(userBase, {
    filter: filledFilter(userFilter, { username: null }),
    attributes: [usernameAttribute, isGuid(subjectAttribute) ? 'objectGUID' : subjectAttribute],
    most: MOST,
  });
  result.users = { found: Math.min(users.length, MOST), isMore: users.length > MOST };
  if (users.length === 0) result.warnings.push('user_filter finds nobody below user_base.');
  if (users.some((user) => subjectOf(user, subjectAttribute) === null))
    result.warnings.push(`Some users have no attribute ${subjectAttribute}: they cannot sign in.`);
  if (users.some((user) => textsOf(user, usernameAttribute).length === 0))
    result.warnings.push(`Some users have no attribute ${usernameAttribute}: they cannot sign in.`);
}

async function countGroups(
  connection: DirectoryConnection,
  { groupBase, groupNameAttribute }: LdapProvider,
  result: ProbeResult,
): Promise<void> {
  if (groupBase === null) {
    result.warnings.push('There is no group_base: no groups are read, and the mapping gives nothing.');
    return;
  }
  const attribute = groupNameAttribute.toLowerCase() === 'dn' ? 'cn' : groupNameAttribute;
  const groups = await connection.search(groupBase, {
    filter: new PresenceFilter({ attribute }),
    attributes: [attribute],
    most: MOST,
  });
  result.groups = { found: Math.min(groups.length, MOST), isMore: groups.length > MOST };
}
