import { blankLdap, givenLdap, ldapOf, requireLdapUrl, storedLdap } from './ldap-settings';

test.each([
  'https://ldap.example',
  'ldap.example',
  'ldaps://',
  'ldaps:///dc=example',
  'ldaps://user:pw@ldap.example',
  'ldaps://ldap.example/dc=example',
  'ldaps://ldap.example?x',
  'ldaps://ldap.example#x',
  'ldaps://a b',
  'ldapi://%2fvar%2frun%2fldapi',
  'ldaps://ldap.example:99999',
])('address %p is refused', (url) => expect(() => requireLdapUrl(url, 'urls.0')).toThrow('Invalid address'));

test.each(['ldaps://ldap.example', 'ldap://10.0.0.7:1389', 'ldaps://[::1]:636', 'ldaps://dc-1.example/'])(
  'address %p is one',
  (url) => expect(requireLdapUrl(url, 'urls.0')).toBe(url),
);

test.each([
  [{ bind_dn: 'EXTERNAL' }, 'bind_dn'],
  [{ bind_dn: 'cn=a\u0000' }, 'bind_dn'],
  [{ user_base: 'people' }, 'user_base'],
  [{ group_base: 'groups' }, 'group_base'],
  [{ username_attribute: 'uid)(x=*' }, 'username_attribute'],
  [{ subject_attribute: '*' }, 'subject_attribute'],
  [{ group_name_attribute: '1' }, 'group_name_attribute'],
])('settings %j are refused at %p', (wish, field) => {
  expect(() => givenLdap(wish)).toThrow(
    expect.objectContaining({ code: 'bad_parameters_error', details: expect.objectContaining({ field }) }),
  );
});

test('settings are stored with their number, and those of a later release are refused', () => {
  const settings = { ...blankLdap, urls: ['ldaps://a'], bindDn: 'cn=a', userBase: 'dc=a' };
  expect(ldapOf(storedLdap(settings), 'corp')).toEqual(settings);
  expect(Object.keys(storedLdap(settings).settings).sort()).toEqual(Object.keys(blankLdap).sort());
  expect(() => ldapOf({ format: 2, settings }, 'corp')).toThrow('format 2');
});
