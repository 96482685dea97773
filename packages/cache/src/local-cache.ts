import { LRUCache } from 'lru-cache';
import type { Cache } from './port';

export interface LocalCacheOptions {
  /** Most entries; the least recently used are dropped first. Default 50,000. */
  maxEntries?: number;
}

/** The cache of one process: for standalone and for tests. */
export function createLocalCache(options: LocalCacheOptions = {}): Cache {
  const entries = new LRUCache<string, string>({ max: options.maxEntries ?? 50_000 });
  const channels = new Map<string, Set<(text: string) => void>>();
  return {
    get: async (key) => entries.get(key) ?? null,
    set: async (key, value, ttlMs) => {
      entries.set(key, value, { ttl: Math.max(1, ttlMs) });
    },
    delete: async (key) => {
      entries.delete(key);
    },
    increment: async (key, ttlMs) => {
      const rest = entries.get(key) === undefined ? Math.max(1, ttlMs) : entries.getRemainingTTL(key);
      const value = Number(entries.get(key) ?? 0) + 1;
      entries.set(key, String(value), { ttl: rest });
      return value;
    },
    publish: async (channel, text) => {
      // After the caller's turn of the event loop, as with a server.
      queueMicrotask(() => {
        for (const receive of [...(channels.get(channel) ?? [])]) receive(text);
      });
    },
    subscribe: async (channel, receive) => {
      const mine = (text: string): void => receive(text);
      const receivers = channels.get(channel) ?? new Set();
      channels.set(channel, receivers.add(mine));
      return async () => {
        receivers.delete(mine);
      };
    },
    ping: async () => undefined,
    close: async () => {
      entries.clear();
      channels.clear();
    },
  };
}
