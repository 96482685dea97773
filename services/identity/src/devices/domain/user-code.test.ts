import { Secret } from '@baton/kernel';
import { createCodeHash, newUserCode, readUserCode, shownCode } from './user-code';

test('a code has eight letters without vowels, and each letter occurs', () => {
  const codes = Array.from({ length: 500 }, newUserCode);
  for (const code of codes) expect(code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{8}$/);
  expect(new Set(codes.join('')).size).toBe(20);
  expect(new Set(codes).size).toBe(500);
});

test.each([
  ['BCDF-GHJK', 'BCDFGHJK'],
  ['bcdfghjk', 'BCDFGHJK'],
  [' bcdf ghjk ', 'BCDFGHJK'],
  ['BCDF–GHJK', null],
  ['ABCDEFGH', null],
  ['BCDF-GHJ', null],
  ['BCDF-GHJKL', null],
  ["BCDF-GHJK' or true", null],
  ['', null],
])('%j is read as %j', (text, code) => expect(readUserCode(text)).toBe(code));

test('a code is shown as it is read', () => {
  const code = newUserCode();
  expect(readUserCode(shownCode(code))).toBe(code);
});

test('the hash of a code depends on the key', () => {
  const [one, same, other] = ['a', 'a', 'b'].map((key) => createCodeHash(new Secret(key))('BCDFGHJK'));
  expect(one).toEqual(same);
  expect(one).not.toEqual(other);
});
