import { shortJson } from './short-json';

test('what is short stands in one line', () => {
  const value = { name: 'a "b"', size: 1, at: [null, true, [], {}] };
  expect(shortJson(value)).toBe('{"name": "a \\"b\\"", "size": 1, "at": [null, true, [], {}]}');
  expect(JSON.parse(shortJson(value)!)).toEqual(value);
});

test.each([[['x'.repeat(80)]], [Array(40).fill(1)], [{ ['k'.repeat(77)]: 1 }]])('%j is too long', (value) => {
  expect(shortJson(value)).toBeNull();
});

test('a line has at most the characters that are allowed', () => {
  expect(shortJson([12, 34], 8)).toBe('[12, 34]');
  expect(shortJson([12, 34], 7)).toBeNull();
});

test('it looks no further than it shows', () => {
  let deep: unknown = [];
  for (let i = 0; i < 100_000; i++) deep = [deep];
  expect(shortJson(deep)).toBeNull();
});
