import { eventually } from '@baton/testkit';
import type { Cache } from './index';

/** One kind of cache; `connect` returns a further client of the same cache, where there can be one. */
export interface CacheUnderTest {
  cache: Cache;
  connect(): Cache;
  close(): Promise<void>;
}

/** The contract of every cache (port.ts). */
export function describeCache(name: string, open: () => Promise<CacheUnderTest>): void {
  describe(name, () => {
    let server: CacheUnderTest;
    let cache: Cache;
    beforeAll(async () => {
      server = await open();
      cache = server.cache;
      await cache.ping();
    });
    afterAll(() => server.close());

    test('gives back what was set, any text, until it is deleted', async () => {
      expect(await cache.get('absent')).toBeNull();
      for (const text of ['', 'ü\n"', 'x'.repeat(100_000)]) {
        await cache.set('text', text, 60_000);
        expect(await cache.get('text')).toBe(text);
      }
      await cache.delete('text');
      expect(await cache.get('text')).toBeNull();
    });

    test('forgets after the time to live; setting again begins anew', async () => {
      await cache.set('short', '1', 60_000);
      await cache.set('short', '2', 30);
      expect(await cache.get('short')).toBe('2');
      await eventually(async () => expect(await cache.get('short')).toBeNull());
    });

    test('counts from one, without losing concurrent increments, in a window that does not move', async () => {
      const counts = await Promise.all(Array.from({ length: 50 }, () => cache.increment('count', 60_000)));
      expect(counts.sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
      expect(await cache.increment('window', 150)).toBe(1);
      // Increments go on all the time: a window that they extended would never end.
      let highest = 1;
      await eventually(async () => {
        const value = await cache.increment('window', 150);
        if (value > highest) highest = value;
        return value < highest;
      });
    });

    test('tells every subscriber of a channel, and only those, until they leave', async () => {
      const other = server.connect();
      const got: string[] = [];
      const leave = await other.subscribe('news', (text) => got.push(`a:${text}`));
      await cache.subscribe('news', (text) => got.push(`b:${text}`));
      await cache.subscribe('elsewhere', (text) => got.push(`c:${text}`));
      await cache.publish('news', 'one');
      await eventually(() => expect([...got].sort()).toEqual(['a:one', 'b:one']));
      await leave();
      await cache.publish('news', 'two');
      await eventually(() => expect([...got].sort()).toEqual(['a:one', 'b:one', 'b:two']));
      if (other !== cache) await other.close();
    });
  });
}
