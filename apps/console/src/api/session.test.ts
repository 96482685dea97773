import { beginLogin, takeSignInCode, takeSignInFailure } from './session';

function take(hash: string, by = takeSignInCode): [string | null, string[]] {
  const addresses: string[] = [];
  const location = { hash, pathname: '/ui/', search: '?a=1' };
  const history = {
    state: null,
    // As in browsers, the location follows at once.
    replaceState: (_state: unknown, _title: string, url: string) => {
      location.hash = '';
      addresses.push(url);
    },
  };
  const code = by(location as Location, history as unknown as History);
  return [code, addresses];
}

test('a code is taken out of the address', () =>
  expect(take('#code=abcDEF123-_')).toEqual(['abcDEF123-_', ['/ui/?a=1']]));
test('what is no code is not sent, and leaves the address as well', () =>
  expect(take('#code=<script>')).toEqual([null, ['/ui/?a=1']]));
test('another hash stays', () => expect(take('#nodes')).toEqual([null, []]));

test('the code of a failed sign-in at a provider is taken out of the address, and nothing else of it is shown', () => {
  expect(take('#sign-in=name_taken', takeSignInFailure)).toEqual(['name_taken', ['/ui/?a=1']]);
  expect(take('#sign-in=<img src=x>', takeSignInFailure)).toEqual([null, ['/ui/?a=1']]);
  expect(take('#code=abcDEF123-_', takeSignInFailure)).toEqual([null, []]);
});
test('a sign-in at a provider leads back to where it began', () =>
  expect(beginLogin('corp', '/ui/a/deployments?_search=x&y')).toBe(
    '/api/v3.1/login/oidc/corp?return_to=%2Fui%2Fa%2Fdeployments%3F_search%3Dx%26y',
  ));
