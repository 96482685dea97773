import { guidBytes, guidText, isDisabled, type LdapEntry, subjectOf, textsOf } from './ldap-entry';

const entry = (values: LdapEntry['values']): LdapEntry => ({ dn: 'uid=a,dc=x', values });
const BYTES = Buffer.from('00112233445566778899aabbccddeeff', 'hex');
const GUID = '33221100-5544-7766-8899-aabbccddeeff';

test('a GUID is written as Microsoft writes it, and read back to the same bytes', () => {
  expect(guidText(BYTES)).toBe(GUID);
  expect(guidBytes(GUID.toUpperCase())).toEqual(BYTES);
  for (const text of ['', 'x', `${GUID}0`, GUID.replaceAll('-', ''), '*']) expect(guidBytes(text)).toBeNull();
});

test('the subject is one value of the attribute, in any letter case of its name', () => {
  expect(subjectOf(entry({ entryuuid: ['u-1'] }), 'entryUUID')).toBe('u-1');
  expect(subjectOf(entry({ objectGUID: [BYTES] }), 'objectguid')).toBe(GUID);
  for (const values of [[], ['u-1', 'u-2'], [''], ['x'.repeat(256)], [Buffer.from([255])]])
    expect(subjectOf(entry({ entryUUID: values }), 'entryUUID')).toBeNull();
  for (const values of [['text'], [Buffer.alloc(15)]])
    expect(subjectOf(entry({ objectGUID: values }), 'objectGUID')).toBeNull();
  expect(textsOf(entry({ uid: ['a', Buffer.from([255]), 'b'] }), 'UID')).toEqual(['a', 'b']);
});

test('an account that an administrator disabled is told from one that failed binds have locked', () => {
  const disabled: LdapEntry['values'][] = [
    { userAccountControl: ['514'] },
    { nsAccountLock: ['TRUE'] },
    { pwdAccountLockedTime: ['000001010000Z'] },
  ];
  const usable: LdapEntry['values'][] = [
    {},
    { userAccountControl: ['512'] },
    { userAccountControl: ['x'] },
    { nsAccountLock: ['false'] },
    { pwdAccountLockedTime: ['20261126120000Z'] },
  ];
  expect(disabled.map((values) => isDisabled(entry(values)))).toEqual([true, true, true]);
  expect(usable.map((values) => isDisabled(entry(values)))).toEqual(usable.map(() => false));
});
