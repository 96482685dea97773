import type { Client } from '@baton/client';
import { QueryClient } from '@tanstack/react-query';
import { cursorListOf } from './lists';
import { PAGE_SIZE } from './pages';

const ROWS = 5 * PAGE_SIZE;

/** A manager with a list of numbers, whose cursors are places; it notes what it is asked for. */
function setUp() {
  const asked: string[] = [];
  const call = async (_id: string, { query }: { query: Record<string, unknown> }) => {
    const { _after: after, _offset: offset, _total } = query;
    asked.push(after === undefined ? `offset ${offset}` : `after ${after || 'nothing'}`);
    const from = Number(after ?? offset);
    const items = Array.from({ length: PAGE_SIZE }, (_, i) => ({ id: from + i }));
    const end = from + PAGE_SIZE;
    return {
      items,
      metadata: {
        pagination: {
          ...(_total === false ? {} : { total: ROWS }),
          ...(after === undefined ? {} : { next: end < ROWS ? String(end) : null }),
        },
      },
    };
  };
  const cache = new QueryClient();
  const list = cursorListOf<{ id: number }>('numbers', 'listEvents', ['id']);
  const read = (page: number) =>
    cache.fetchQuery(
      list.page({ call } as unknown as Client, 't', {}, page * PAGE_SIZE) as Parameters<
        typeof cache.fetchQuery<{ items: { id: number }[]; total: number }>
      >[0],
    );
  return { asked, read };
}

test('pages follow by the cursor of the page before, also where that is still being read', async () => {
  const { asked, read } = setUp();
  const pages = await Promise.all([0, 1, 2].map(read));
  pages.push(await read(3), await read(4));
  expect(asked).toEqual(['after nothing', ...[1, 2, 3, 4].map((page) => `after ${page * PAGE_SIZE}`)]);
  expect(pages.flatMap(({ items }) => items.map(({ id }) => id))).toEqual([...Array(ROWS).keys()]);
  expect(pages.map(({ total }) => total)).toEqual([ROWS, ROWS, ROWS, ROWS, ROWS]);
});

test('a page to which somebody jumps is found by its offset', async () => {
  const { asked, read } = setUp();
  const pages = await Promise.all([3, 4].map(read));
  expect(asked).toEqual([`offset ${3 * PAGE_SIZE}`, `offset ${4 * PAGE_SIZE}`]);
  expect(pages.map(({ items, total }) => [items[0]?.id, total])).toEqual([
    [3 * PAGE_SIZE, ROWS],
    [4 * PAGE_SIZE, ROWS],
  ]);
});
