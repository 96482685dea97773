import type { LdapProvider } from './identity-providers';
import { ACTIVE_DIRECTORY, bodyOf, entryOf, faultsOf, NEW_LDAP } from './ldap-entry';

const settings = {
  name: 'Our company',
  urls: ['ldaps://ldap1.example.org', 'ldap://ldap2.example.org'],
  bind_dn: 'cn=baton,dc=example,dc=org',
  user_base: 'ou=people,dc=example,dc=org',
  user_filter: '(uid={username})',
  username_attribute: 'uid',
  subject_attribute: 'entryUUID',
  group_base: 'ou=groups,dc=example,dc=org',
  group_filter: '(member={dn})',
  group_name_attribute: 'cn',
  nested_groups: true,
  provision: 'jit',
  ca_certificate: null,
};
const stored = settings as unknown as LdapProvider;

test('what is stored comes back unchanged, and no password is sent that nobody typed', () => {
  expect(bodyOf(entryOf(stored))).toEqual(settings);
  expect(bodyOf({ ...entryOf(stored), bindPassword: 'p w' })).toMatchObject({ bind_password: 'p w' });
});

test('without a base no groups are read', () => {
  expect(bodyOf({ ...entryOf(stored), groupBase: ' ' }).group_base).toBeNull();
});

test('an address that is none of a directory is told at its field', () => {
  expect(faultsOf({ ...NEW_LDAP, urls: 'ldaps://a\nhttps://b' })).toEqual({
    urls: 'Each address begins with ldaps:// or ldap://.',
  });
  expect(faultsOf({ ...NEW_LDAP, urls: 'ldaps://a\n\nldap://b:389' })).toEqual({});
});

test('the settings of Active Directory replace those of OpenLDAP and leave what only the organisation knows', () => {
  const entry = { ...entryOf(stored), ...ACTIVE_DIRECTORY };
  expect(bodyOf(entry)).toMatchObject({
    user_base: settings.user_base,
    subject_attribute: 'objectGUID',
    nested_groups: false,
  });
});
