import { readSession, withoutSession } from './session-cookie';

test.each<[string, boolean, string | null]>([
  ['', false, null],
  ['a=b', false, null],
  ['baton_session=s', false, 's'],
  ['a=b; baton_session=s;c=d', false, 's'],
  ['baton_session = s ', false, 's'],
  ['baton_session=', false, null],
  ['baton_session', false, null],
  // A value may contain the equals sign.
  ['baton_session=s=t', false, 's=t'],
  // Names are case-sensitive, and a name with a suffix is another name.
  ['Baton_Session=s; baton_session2=t; xbaton_session=u', false, null],
  ['baton_session=s; baton_session=t', false, null],
  // Over TLS, a neighbour host of the same domain could have set the plain name.
  ['baton_session=s', true, null],
  ['__Host-baton_session=s', true, 's'],
  ['baton_session=planted; __Host-baton_session=s', true, 's'],
  ['__Host-baton_session=s; __Host-baton_session=t', true, null],
  ['__Host-baton_session=s', false, null],
])('of %p, over TLS: %p, the session is %p', (cookie, isHttps, session) => {
  expect(readSession(cookie, isHttps)).toBe(session);
});

test.each([
  ['', ''],
  ['XSRF-TOKEN=t; a=b', 'XSRF-TOKEN=t; a=b'],
  ['baton_session=s', ''],
  ['a=b;baton_session=s; __Host-baton_session=t;c', 'a=b; c'],
  ['baton_session =s; a=baton_session', 'a=baton_session'],
])('of %p services get %p', (cookie, kept) => {
  expect(withoutSession(cookie)).toBe(kept);
});
