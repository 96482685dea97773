import type { ProviderChange } from '@baton/contracts/http/identity-providers';
import { AppError, badParameter, defineFormat, requireFormat } from '@baton/kernel';
import { requireText } from '../../domain/checks';
import type { LdapProvider, LdapSettings } from './provider';

/** Longest distinguished name, in characters. */
const MAX_DN = 1_024;

export const blankLdap: Readonly<LdapSettings> = {
  urls: [],
  bindDn: '',
  userBase: '',
  userFilter: '(&(objectClass=inetOrgPerson)(uid={username}))',
  usernameAttribute: 'uid',
  subjectAttribute: 'entryUUID',
  groupBase: null,
  groupFilter: '(|(member={dn})(uniqueMember={dn}))',
  groupNameAttribute: 'cn',
  hasNestedGroups: true,
};

/** Settings without a default. */
export const neededByLdap = ['urls', 'bind_dn', 'user_base'] as const;

type Given = { [K in keyof LdapSettings]?: LdapSettings[K] | undefined };

/**
 * Returns the settings of a directory that the request gives; absent ones are undefined. The filters are checked by whoever can
 * read them (adapters/ldap-filter.ts).
 * @throws AppError bad_parameters_error
 */
export function givenLdap(wish: ProviderChange): Given {
  const checked = <T>(value: T | undefined, check: (given: T) => T): T | undefined =>
    value === undefined ? undefined : check(value);
  return {
    urls: wish.urls?.map((url, at) => requireLdapUrl(url, `urls.${at}`)),
    bindDn: checked(wish.bind_dn, (dn) => requireDn('bind_dn', dn)),
    userBase: checked(wish.user_base, (dn) => requireDn('user_base', dn)),
    userFilter: wish.user_filter,
    usernameAttribute: checked(wish.username_attribute, (name) =>
      requireAttribute('username_attribute', name),
    ),
    subjectAttribute: checked(wish.subject_attribute, (name) => requireAttribute('subject_attribute', name)),
    groupBase: checked(wish.group_base, (dn) => (dn === null ? null : requireDn('group_base', dn))),
    groupFilter: wish.group_filter,
    groupNameAttribute: checked(wish.group_name_attribute, (name) =>
      requireAttribute('group_name_attribute', name),
    ),
    hasNestedGroups: wish.nested_groups,
  };
}

/**
 * Checks the address of a directory: a host and a port. `ldap://` is no way without TLS: every connection begins with STARTTLS. Which
 * addresses the host may have is decided at each connection (adapters/ldap-connection.ts).
 * @throws AppError bad_parameters_error
 */
export function requireLdapUrl(text: string, field: string): string {
  const refused = (why: string) =>
    badParameter(field, `Invalid address \`${text.slice(0, 200)}\`: ${why}`, {
      expected: 'ldaps://host or ldap://host, with a port where it is not 636 or 389',
    });
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw refused('it is no address');
  }
  if (url.protocol !== 'ldaps:' && url.protocol !== 'ldap:')
    throw refused('it begins neither with ldaps:// nor with ldap://');
  if (url.username !== '' || url.password !== '') throw refused('it holds a user or password');
  if (!/^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])$/.test(url.hostname)) throw refused('it names no host');
  if ((url.pathname !== '' && url.pathname !== '/') || text.includes('?') || text.includes('#'))
    throw refused('it holds more than a host and a port');
  return text;
}

/** @throws AppError bad_parameters_error: an empty name would bind as nobody, and a word alone names a mechanism to the library */
function requireDn(field: string, dn: string): string {
  if (/^[A-Za-z0-9.-]+=/.test(requireText(field, dn, MAX_DN))) return dn;
  throw badParameter(field, `Invalid ${field}`, {
    expected: 'a distinguished name, such as ou=people,dc=example,dc=org',
  });
}

/** @throws AppError bad_parameters_error unless the text can be the name of an attribute (RFC 4512, section 1.4) */
function requireAttribute(field: string, name: string): string {
  if (/^[A-Za-z][A-Za-z0-9-]{0,127}$/.test(name)) return name;
  throw badParameter(field, `Invalid ${field} \`${name.slice(0, 100)}\``, {
    expected: 'name of an attribute, such as uid',
  });
}

/** @throws AppError illegal_action_error: values of another attribute are other subjects */
export function requireSameSubjects(before: LdapProvider, after: LdapProvider): void {
  if (before.subjectAttribute.toLowerCase() === after.subjectAttribute.toLowerCase()) return;
  throw new AppError('illegal_action_error', 'The subject_attribute of a provider with users cannot change', {
    field: 'subject_attribute',
    expected: `${before.subjectAttribute}, or a new provider`,
  });
}

const format = defineFormat('settings of a directory', 1, [1]);

export interface StoredLdap {
  format: number;
  settings: LdapSettings;
}

/** Takes the settings out of a provider, in the form of the column. */
export const storedLdap = (provider: LdapSettings): StoredLdap => ({
  format: format.written,
  settings: {
    urls: [...provider.urls],
    bindDn: provider.bindDn,
    userBase: provider.userBase,
    userFilter: provider.userFilter,
    usernameAttribute: provider.usernameAttribute,
    subjectAttribute: provider.subjectAttribute,
    groupBase: provider.groupBase,
    groupFilter: provider.groupFilter,
    groupNameAttribute: provider.groupNameAttribute,
    hasNestedGroups: provider.hasNestedGroups,
  },
});

/** Reads the settings of a row. @throws AppError internal_server_error for the format of a later release */
export function ldapOf(stored: unknown, id: string): LdapSettings {
  const { format: number, settings } = stored as StoredLdap;
  requireFormat(format, number, `identity provider ${id}`);
  return settings;
}
