import { canonicalJson } from './canonical-json';

test('the order of members and those that are undefined make no difference, the order of items does', () => {
  const one = { b: [1, { y: null, x: 'a' }], a: { 10: 1, 9: undefined } };
  const same = { a: { 10: 1 }, c: undefined, b: [1, { x: 'a', y: null }] };
  expect(canonicalJson(one)).toBe('{"a":{"10":1},"b":[1,{"x":"a","y":null}]}');
  expect(canonicalJson(same)).toBe(canonicalJson(one));
  expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
});
