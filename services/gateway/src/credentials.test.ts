import { readCredential } from './credentials';

const read = (authorization = '', authenticationToken = '', executionToken = '') =>
  readCredential({ authorization, authenticationToken, executionToken });
const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
const hex = '0123456789abcdef0123456789abcdef';

test('the order is execution token, basic, user token', () => {
  expect(read(basic('a:b'), 'ctok-x', 'e')).toEqual({ kind: 'execution', token: 'e' });
  expect(read(basic('a:b'), hex)).toEqual({ kind: 'execution', token: hex });
  expect(read(basic('a:b'), 'ctok-x')).toEqual({ kind: 'basic', username: 'a', password: 'b' });
  const atAgent = `agent.0193f3a0-0000-7000-8000-000000000001.WyJhcHBfMSJd.${hex}`;
  expect(read(basic('a:b'), atAgent)).toEqual({ kind: 'execution', token: atAgent });
  expect(read('', 'ctok-x')).toEqual({ kind: 'token', token: 'ctok-x' });
});

test('a password may hold colons and any characters', () => {
  expect(read(basic('a:b:c:ü'))).toEqual({ kind: 'basic', username: 'a', password: 'b:c:ü' });
  expect(read(`bAsIc ${Buffer.from('a:').toString('base64')}`)).toEqual({
    kind: 'basic',
    username: 'a',
    password: '',
  });
});

test.each(['Basic !!!notbase64', 'Basic', 'Bearer abc', basic('nocolon'), basic(':x'), 'Basic YTpi x'])(
  '%p is no credential',
  (text) => expect(read(text)).toBeNull(),
);
