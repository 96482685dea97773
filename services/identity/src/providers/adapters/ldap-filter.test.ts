import { EqualityFilter, FilterParser } from 'ldapts';
import { filledFilter, requireFilter } from './ldap-filter';

const USER = '(&(objectClass=person)(|(uid={username})(mail={username}@x.example))(!(title=gone*)))';
const places = { needed: ['username'], allowed: ['username'] } as const;

test('a name is put in as it is, and is no part of the filter whatever it holds', () => {
  expect(filledFilter('(uid={username})', { username: 'alice' }).toString()).toBe('(uid=alice)');
  for (const name of [
    '*',
    'a*',
    ')(uid=*',
    '\\',
    '\\2a',
    'a\u0000b',
    ')(|(uid=*))',
    '{username}',
    '{dn}',
    'a,ou=x',
  ]) {
    const filled = filledFilter('(uid={username})', { username: name });
    expect([filled, (filled as EqualityFilter).value]).toEqual([expect.any(EqualityFilter), name]);
    // Read back from its written form it is still one comparison.
    const again = FilterParser.parseString(filled.toString());
    expect([again, (again as EqualityFilter).value]).toEqual([expect.any(EqualityFilter), name]);
  }
});

test('places are filled wherever values are compared', () => {
  expect(filledFilter(USER, { username: 'a(b' }).toString()).toBe(
    '(&(objectClass=person)(|(uid=a\\28b)(mail=a\\28b@x.example))(!(title=gone*)))',
  );
  const nested = filledFilter('(member:1.2.840.113556.1.4.1941:={dn})', { dn: 'cn=a (b),dc=x' });
  expect(nested.toString()).toBe('(member:1.2.840.113556.1.4.1941:=cn=a \\28b\\29,dc=x)');
});

test('for any name the other conditions stay', () => {
  expect(filledFilter(USER, { username: null }).toString()).toBe(
    '(&(objectClass=person)(|(uid=*)(mail=*))(!(title=gone*)))',
  );
});

test.each([
  ['(uid=alice)', 'no place'],
  ['(uid={user})', 'no place {user}'],
  ['(uid={dn})', 'no place {dn}'],
  ['(uid={username}', 'cannot be read'],
  ['(uid={username}))', 'cannot be read'],
  ['(uid={username}*)', 'beside a *'],
  ['(uid>={username})', 'no value is compared'],
  ['', 'no place'],
])('filter %p is refused', (text, why) =>
  expect(() => requireFilter('user_filter', text, places)).toThrow(why),
);

test('a filter with its places is taken', () => {
  expect(requireFilter('user_filter', USER, places)).toBe(USER);
});
