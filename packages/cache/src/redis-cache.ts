import { backoffMs, type Log } from '@baton/kernel';
import { lastingClientTls, type TlsSource } from '@baton/tls';
import { Redis } from 'ioredis';
import type { Cache } from './port';

export interface RedisCacheOptions {
  url: string;
  log: Log;
  /** Authorities to trust when `url` is `rediss:`; absent: the system's authorities. */
  trust?: TlsSource | null | undefined;
  /** Prefix of every key and channel. */
  prefix: string;
  /** Longest wait for one answer before it counts as a miss, default 500 ms. */
  timeoutMs?: number;
}

const RECONNECT = { firstMs: 50, maxMs: 5_000, factor: 2, jitter: 0.3 };
const PING_MS = 2_000;

/** The cache in Redis. While the server is away, reads miss, writes are dropped and counters return 0; it reconnects for ever. */
export function createRedisCache(options: RedisCacheOptions): Cache {
  const { log, prefix } = options;
  // No queue while disconnected: a miss now is better than an answer later.
  const redis = connect(options, { enableOfflineQueue: false, commandTimeout: options.timeoutMs ?? 500 });
  const subscriptions = createSubscriptions(options);

  const orElse = async <T>(fallback: T, work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      log.debug({ error: (error as Error).message }, 'cache missed');
      return fallback;
    }
  };

  return {
    get: (key) => orElse<string | null>(null, redis.get(prefix + key)),
    set: (key, value, ttlMs) =>
      orElse(
        undefined,
        redis.set(prefix + key, value, 'PX', Math.max(1, ttlMs)).then(() => undefined),
      ),
    delete: (key) =>
      orElse(
        undefined,
        redis.del(prefix + key).then(() => undefined),
      ),
    increment: (key, ttlMs) => orElse(0, increment(redis, prefix + key, Math.max(1, ttlMs))),
    publish: (channel, text) =>
      orElse(
        undefined,
        redis.publish(prefix + channel, text).then(() => undefined),
      ),
    subscribe: subscriptions.subscribe,
    ping: () => ping(redis),
    close: async () => {
      redis.disconnect();
      subscriptions.close();
    },
  };
}

/** Subscriptions on a separate connection, opened with the first one; they are restored after a loss. */
function createSubscriptions(options: RedisCacheOptions): { subscribe: Cache['subscribe']; close(): void } {
  const receivers = new Map<string, Set<(text: string) => void>>();
  let subscriber: Redis | undefined;
  const listen = (): Redis => {
    if (subscriber) return subscriber;
    subscriber = connect(options, { enableOfflineQueue: true, autoResubscribe: true });
    subscriber.on('message', (channel: string, text: string) => {
      for (const receive of [...(receivers.get(channel) ?? [])]) receive(text);
    });
    return subscriber;
  };
  return {
    subscribe: async (channel, receive) => {
      const name = options.prefix + channel;
      const mine = (text: string): void => receive(text);
      const set = receivers.get(name) ?? new Set();
      receivers.set(name, set.add(mine));
      await listen().subscribe(name);
      return async () => {
        set.delete(mine);
        if (set.size > 0 || receivers.get(name) !== set) return;
        receivers.delete(name);
        // When this fails, the server goes on sending messages that have no receiver.
        await listen()
          .unsubscribe(name)
          .catch(() => undefined);
      };
    },
    close: () => {
      receivers.clear();
      subscriber?.disconnect();
    },
  };
}

function connect(
  { url, log, trust }: RedisCacheOptions,
  settings: { enableOfflineQueue: boolean; autoResubscribe?: boolean; commandTimeout?: number },
): Redis {
  const redis = new Redis(url, {
    ...settings,
    maxRetriesPerRequest: null,
    ...(trust && url.startsWith('rediss:') && { tls: lastingClientTls(trust) }),
    retryStrategy: (attempt) => backoffMs(attempt, RECONNECT),
  });
  let isDown = false;
  redis.on('error', (error: Error) => {
    if (isDown) return;
    isDown = true;
    log.warn({ error: error.message }, 'cache server is away');
  });
  redis.on('ready', () => {
    if (isDown) log.info({}, 'cache server is back');
    isDown = false;
  });
  return redis;
}

/** The time to live starts with the counter: a later increment does not extend it. */
async function increment(redis: Redis, key: string, ttlMs: number): Promise<number> {
  const answers = await redis.multi().set(key, 0, 'PX', ttlMs, 'NX').incr(key).exec();
  return Number(answers?.[1]?.[1] ?? 0);
}

async function ping(redis: Redis): Promise<void> {
  if (redis.status !== 'ready' && redis.status !== 'end') {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        redis.off('ready', ready);
        reject(new Error('the cache server does not answer'));
      }, PING_MS);
      const ready = (): void => {
        clearTimeout(timer);
        resolve();
      };
      redis.once('ready', ready);
    });
  }
  await redis.ping();
}
