/** Computes which pages of a list the visible rows need. */

/** Returns the indexes of the pages (of `pageSize` rows) that contain the rows `first` to `last`, up to `total`. */
export function pagesFor(first: number, last: number, pageSize: number, total: number): number[] {
  const end = Math.min(last, total - 1);
  if (end < first) return [0];
  const pages: number[] = [];
  for (let page = Math.floor(first / pageSize); page <= Math.floor(end / pageSize); page++) pages.push(page);
  return pages;
}

/** Returns the row at an index, if its page is loaded. */
export function rowAt<Row>(
  pages: ReadonlyMap<number, readonly Row[]>,
  index: number,
  pageSize: number,
): Row | undefined {
  return pages.get(Math.floor(index / pageSize))?.[index % pageSize];
}
