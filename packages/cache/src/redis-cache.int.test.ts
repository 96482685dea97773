import { silentLog } from '@baton/kernel';
import { eventually, tcpProxy, testNamespace, testUrls } from '@baton/testkit';
import { describeCache } from './cache.contract';
import { createRedisCache } from './redis-cache';

describeCache('Redis cache', async () => {
  const prefix = `${testNamespace()}:`;
  const connect = () => createRedisCache({ url: testUrls.redis(), log: silentLog, prefix });
  const cache = connect();
  return { cache, connect, close: () => cache.close() };
});

describe('Redis cache without its server', () => {
  const away = async () => {
    const target = new URL(testUrls.redis());
    const proxy = await tcpProxy({ host: target.hostname, port: Number(target.port) });
    const cache = createRedisCache({
      url: proxy.through(testUrls.redis()),
      log: silentLog,
      prefix: `${testNamespace()}:`,
      timeoutMs: 100,
    });
    await cache.ping();
    return { proxy, cache };
  };

  test('misses at once instead of failing, and works again when the server is back', async () => {
    const { proxy, cache } = await away();
    const got: string[] = [];
    await cache.subscribe('news', (text) => got.push(text));
    await cache.set('key', 'value', 60_000);
    proxy.refuse();
    await eventually(async () => expect(await cache.get('key')).toBeNull());
    await cache.set('key', 'lost', 60_000);
    await cache.delete('key');
    await cache.publish('news', 'unheard');
    expect(await cache.increment('count', 1_000)).toBe(0);
    await expect(cache.ping()).rejects.toThrow();
    proxy.heal();
    await eventually(async () => expect(await cache.get('key')).toBe('value'));
    await eventually(async () => {
      await cache.publish('news', 'again');
      expect(got).toContain('again');
    });
    expect(got).not.toContain('unheard');
    await cache.close();
    await proxy.close();
  }, 20_000);

  test('a server that hangs is waited for until the time-out, and no longer', async () => {
    const { proxy, cache } = await away();
    proxy.blackhole();
    expect(await cache.get('key')).toBeNull();
    await cache.close();
    await proxy.close();
  });
});
