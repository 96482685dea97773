import { pagesFor, rowAt } from './page-window';

test.each([
  [0, 20, 50, 1000, [0]],
  [40, 60, 50, 1000, [0, 1]],
  [49, 49, 50, 1000, [0]],
  [50, 50, 50, 1000, [1]],
  [90_000, 90_030, 50, 100_000, [1800]],
  [90, 130, 50, 95, [1]],
  [0, 30, 50, 0, [0]],
  [200, 230, 50, 95, [0]],
])('rows %d to %d with pages of %d of %d', (first, last, size, total, pages) =>
  expect(pagesFor(first, last, size, total)).toEqual(pages),
);

test('a row is found in its page, or is not there yet', () => {
  const pages = new Map([[1, ['c', 'd']]]);
  expect([rowAt(pages, 2, 2), rowAt(pages, 3, 2), rowAt(pages, 0, 2)]).toEqual(['c', 'd', undefined]);
});
