/** Settings of a provider of the type ldap (a directory): in the form, and in the format of the API. */
import { t } from '../../text/text';
import type { LdapProvider, ProviderChange } from './identity-providers';

export interface LdapEntry {
  name: string;
  /** One address a line. */
  urls: string;
  bindDn: string;
  /** Empty: the stored one stays. */
  bindPassword: string;
  userBase: string;
  userFilter: string;
  usernameAttribute: string;
  subjectAttribute: string;
  /** Empty: no groups are read. */
  groupBase: string;
  groupFilter: string;
  groupNameAttribute: string;
  hasNestedGroups: boolean;
  provision: 'jit' | 'preexisting';
  caCertificate: string;
}

/** Defaults of the API: OpenLDAP. */
export const NEW_LDAP: LdapEntry = {
  name: '',
  urls: '',
  bindDn: '',
  bindPassword: '',
  userBase: '',
  userFilter: '(&(objectClass=inetOrgPerson)(uid={username}))',
  usernameAttribute: 'uid',
  subjectAttribute: 'entryUUID',
  groupBase: '',
  groupFilter: '(|(member={dn})(uniqueMember={dn}))',
  groupNameAttribute: 'cn',
  hasNestedGroups: true,
  provision: 'jit',
  caCertificate: '',
};

/** What Active Directory needs instead (docs/login.md). The directory itself resolves groups in groups. */
export const ACTIVE_DIRECTORY: Partial<LdapEntry> = {
  userFilter: '(&(objectCategory=person)(objectClass=user)(sAMAccountName={username}))',
  usernameAttribute: 'sAMAccountName',
  subjectAttribute: 'objectGUID',
  groupFilter: '(member:1.2.840.113556.1.4.1941:={dn})',
  groupNameAttribute: 'cn',
  hasNestedGroups: false,
};

export const entryOf = (provider: LdapProvider): LdapEntry => ({
  name: provider.name,
  urls: provider.urls.join('\n'),
  bindDn: provider.bind_dn,
  bindPassword: '',
  userBase: provider.user_base,
  userFilter: provider.user_filter,
  usernameAttribute: provider.username_attribute,
  subjectAttribute: provider.subject_attribute,
  groupBase: provider.group_base ?? '',
  groupFilter: provider.group_filter,
  groupNameAttribute: provider.group_name_attribute,
  hasNestedGroups: provider.nested_groups,
  provision: provider.provision,
  caCertificate: provider.ca_certificate ?? '',
});

export const urlsOf = (text: string): string[] => text.split(/\s+/).filter(Boolean);

const URL = /^ldaps?:\/\/\S+$/;

/** Returns the errors, by the name of the field in the request body. */
export const faultsOf = ({ urls }: LdapEntry): Record<string, string> =>
  urlsOf(urls).every((url) => URL.test(url)) ? {} : { urls: t.identityProviders.faults.urls };

/** Returns the entry in the format of the API, without the password when nothing was typed. */
export function bodyOf(entry: LdapEntry): ProviderChange {
  const certificate = entry.caCertificate.trim();
  const groupBase = entry.groupBase.trim();
  return {
    ...(entry.name.trim() && { name: entry.name.trim() }),
    urls: urlsOf(entry.urls),
    bind_dn: entry.bindDn.trim(),
    ...(entry.bindPassword && { bind_password: entry.bindPassword }),
    user_base: entry.userBase.trim(),
    user_filter: entry.userFilter.trim(),
    username_attribute: entry.usernameAttribute.trim(),
    subject_attribute: entry.subjectAttribute.trim(),
    group_base: groupBase === '' ? null : groupBase,
    group_filter: entry.groupFilter.trim(),
    group_name_attribute: entry.groupNameAttribute.trim(),
    nested_groups: entry.hasNestedGroups,
    provision: entry.provision,
    ca_certificate: certificate === '' ? null : certificate,
  };
}
