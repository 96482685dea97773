import { isName, requireName, requirePassword, requireText } from './checks';

test.each(['a', 'A1', 'a.b-c_d~e', `a${'x'.repeat(255)}`])('%p is a name', (name) => {
  expect(isName(name)).toBe(true);
  expect(requireName('username', name)).toBe(name);
});
test.each(['', '1a', '-a', 'a b', 'ä', 'a/b', 'a\u0000', `a${'x'.repeat(256)}`])('%p is no name', (name) => {
  expect(isName(name)).toBe(false);
  expect(() => requireName('username', name)).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ field: 'username' }) }),
  );
});
test('passwords have 5 to 256 characters, and the refusal does not repeat them', () => {
  expect(requirePassword('12345')).toBe('12345');
  expect(() => requirePassword('1234')).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining('1234') }),
  );
  expect(() => requirePassword('x'.repeat(257))).toThrow();
});
test('free text has no control characters', () => {
  expect(requireText('description', 'für Ö')).toBe('für Ö');
  for (const bad of ['', 'a\u0000b', 'a\nb', 'x'.repeat(1025)])
    expect(() => requireText('description', bad)).toThrow();
});
