import { Secret } from '@baton/kernel';
import {
  ATTEMPT_MS,
  attemptCookie,
  challengeOf,
  newAttempt,
  openAttempt,
  readAttemptCookie,
  safeReturn,
  sealAttempt,
} from './login-attempt';
import { createSealer } from './sealed-text';

const sealer = createSealer(new Secret('a key for tests only'));
const NOW = 1_000_000;
const attempt = newAttempt({ provider: 'corp', redirectUri: 'https://m/callback', returnTo: '/ui/' }, NOW);
const open = (over: Partial<{ cookie: string; provider: string; state: string; nowMs: number }> = {}) => {
  const {
    cookie = sealAttempt(sealer, attempt),
    provider = 'corp',
    state = attempt.state,
    nowMs = NOW,
  } = over;
  return openAttempt(sealer, cookie, { provider, state, nowMs });
};

test('an attempt opens for its state at its provider, until it is over', () => {
  expect(open()).toEqual(attempt);
  expect(open({ state: `${attempt.state.slice(1)}x` })).toBeNull();
  expect(open({ state: '' })).toBeNull();
  expect(open({ provider: 'other' })).toBeNull();
  expect(open({ nowMs: NOW + ATTEMPT_MS - 1 })).toEqual(attempt);
  expect(open({ nowMs: NOW + ATTEMPT_MS })).toBeNull();
});

test('a cookie that was changed, cut or sealed by another key opens nothing', () => {
  const cookie = sealAttempt(sealer, attempt);
  const other = createSealer(new Secret('another key of tests'));
  expect(open({ cookie: `${cookie.slice(0, -2)}AA` })).toBeNull();
  expect(open({ cookie: '' })).toBeNull();
  expect(open({ cookie: 'AQ' })).toBeNull();
  expect(open({ cookie: sealAttempt(other, attempt) })).toBeNull();
  expect(cookie).not.toContain(attempt.verifier);
});

test('the challenge is that of RFC 7636, appendix B', () => {
  expect(challengeOf('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk')).toBe(
    'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  );
});

test.each([
  ['/ui', '/ui'],
  ['/ui/t/default_tenant/deployments?_sort=id', '/ui/t/default_tenant/deployments?_sort=id'],
  ['/ui/../ui/x', '/ui/x'],
  [undefined, '/ui/'],
  ['', '/ui/'],
  ['/uix', '/ui/'],
  ['//evil.example/ui/', '/ui/'],
  ['/ui/../../evil', '/ui/'],
  ['/\\evil.example', '/ui/'],
  ['/ui/\\evil.example', '/ui/'],
  ['https://evil.example/ui/', '/ui/'],
  ['/ui/\r\nset-cookie: a=b', '/ui/'],
  ['/ui/\u2028', '/ui/'],
  ['javascript:alert(1)', '/ui/'],
])('return_to %p leads to %p', (given, leadsTo) => expect(safeReturn(given)).toBe(leadsTo));

test('over TLS only the name counts that no neighbour can set, and of two cookies none', () => {
  expect(attemptCookie('x', true)).toBe(
    '__Host-baton_login=x; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=600',
  );
  expect(readAttemptCookie('a=b; __Host-baton_login=x', true)).toBe('x');
  expect(readAttemptCookie('baton_login=x', true)).toBeNull();
  expect(readAttemptCookie('baton_login=x; baton_login=y', false)).toBeNull();
  expect(readAttemptCookie(undefined, true)).toBeNull();
});
