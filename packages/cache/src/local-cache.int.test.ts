import { describeCache } from './cache.contract';
import { createLocalCache } from './local-cache';

describeCache('local cache', async () => {
  const cache = createLocalCache();
  return { cache, connect: () => cache, close: () => cache.close() };
});

test('keeps the most recently used entries when it is full', async () => {
  const cache = createLocalCache({ maxEntries: 2 });
  await cache.set('a', '1', 60_000);
  await cache.set('b', '2', 60_000);
  await cache.get('a');
  await cache.set('c', '3', 60_000);
  expect([await cache.get('a'), await cache.get('b'), await cache.get('c')]).toEqual(['1', null, '3']);
});
