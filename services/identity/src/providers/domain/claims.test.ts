import { claimOf, identityOf } from './claims';

const provider = {
  usernameClaim: 'preferred_username',
  groupsClaim: 'groups',
  stripSuffix: null as string | null,
};

test('name and groups come from the claims that the provider names', () => {
  expect(identityOf(provider, { sub: '7', preferred_username: 'alice', groups: ['a', 'b', 'a'] })).toEqual({
    subject: '7',
    username: 'alice',
    groups: ['a', 'b'],
  });
  const keycloak = { ...provider, groupsClaim: 'realm_access.roles' };
  expect(identityOf(keycloak, { sub: '7', realm_access: { roles: ['r'] } }).groups).toEqual(['r']);
  expect(identityOf(provider, { sub: '7', groups: 'only' }).groups).toEqual(['only']);
  expect(identityOf(provider, { sub: '7' })).toEqual({ subject: '7', username: null, groups: [] });
});

test('only the ending that an administrator named is cut off', () => {
  const strip = { ...provider, usernameClaim: 'email', stripSuffix: '@example.org' };
  expect(identityOf(strip, { sub: '7', email: 'alice@example.org' }).username).toBe('alice');
  expect(identityOf(strip, { sub: '7', email: 'alice@evil.example' }).username).toBeNull();
  expect(identityOf(strip, { sub: '7', email: '@example.org' }).username).toBeNull();
});

test.each([
  [{ groups: [] }],
  [{ sub: '', groups: [] }],
  [{ sub: 7 }],
  [{ sub: 'x'.repeat(256) }],
  [{ sub: '7', groups: [{ name: 'a' }] }],
  [{ sub: '7', groups: { a: true } }],
  [{ sub: '7', groups: Array.from({ length: 5_001 }, (_, i) => `g${i}`) }],
  [{ sub: '7', groups: ['x'.repeat(1_025)] }],
])('claims that cannot be read whole are refused (%#)', (claims) => {
  expect(() => identityOf(provider, claims)).toThrow(expect.objectContaining({ code: 'bad_answer' }));
});

test('members of prototypes are no claims', () => {
  expect(claimOf({}, 'constructor')).toBeUndefined();
  expect(claimOf({ a: {} }, 'a.__proto__')).toBeUndefined();
  expect(claimOf({ 'a.b': 1, a: { b: 2 } }, 'a.b')).toBe(1);
});
