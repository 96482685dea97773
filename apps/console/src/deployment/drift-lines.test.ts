import { driftLines } from './drift-lines';

const lines = (path: string[], expected: unknown, actual: unknown) =>
  driftLines({ changes: [{ path, expected, actual }] }).map((line) => [line.path, line.expected, line.found]);

test('of two objects only the values that differ are shown, with the way to them', () => {
  expect(
    lines(['expected'], { name: 'a', size: 1, net: { ip: 1 } }, { name: 'a', size: 9, tags: [] }),
  ).toEqual([
    ['expected.size', 1, 9],
    ['expected.net', { ip: 1 }, undefined],
    ['expected.tags', undefined, []],
  ]);
});

test('other values are shown as a whole, and none is lost', () => {
  expect(lines(['ttl'], 300, null)).toEqual([['ttl', 300, null]]);
  expect(lines([], [1, 2], [2, 1])).toEqual([['', [1, 2], [2, 1]]]);
  expect(lines(['same'], null, null)).toEqual([['same', null, null]]);
});
