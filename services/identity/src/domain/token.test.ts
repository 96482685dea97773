import { isSecretOf, newToken, parseToken, randomText } from './token';

test('a new token has the shape of the reference and only its own secret opens it', () => {
  const token = newToken();
  expect(token.value).toMatch(/^ctok-[A-Za-z0-9]{10}-[A-Za-z0-9]{40}$/);
  const parsed = parseToken(token.value)!;
  expect(parsed.id).toBe(token.id);
  expect(isSecretOf(parsed.secret, token.secretHash)).toBe(true);
  expect(isSecretOf(newToken().value.slice(16), token.secretHash)).toBe(false);
  expect(isSecretOf(parsed.secret, token.secretHash.subarray(1))).toBe(false);
});

test.each([
  '',
  'garbage',
  'ctok-abc-def',
  `ctok-abcdefghij-${'x'.repeat(39)}`,
  `ctok-abcdefghij-${'x'.repeat(41)}`,
  `ctok-abcdefghi!-${'x'.repeat(40)}`,
])('%p is no token', (text) => expect(parseToken(text)).toBeNull());

test('random text uses every character of its alphabet about equally', () => {
  const counts = new Map<string, number>();
  for (const c of randomText(62_000)) counts.set(c, (counts.get(c) ?? 0) + 1);
  expect(counts.size).toBe(62);
  // Expected count of each: 1,000; the tolerance is six standard deviations.
  for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(190);
});
