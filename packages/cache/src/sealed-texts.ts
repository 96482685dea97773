import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock, Log } from '@baton/kernel';
import type { Cache } from './port';

/**
 * Authenticated texts in a cache to which others can write as well. A text that is read back was put under that name by a holder of
 * `key`, and has not outlived its time to live. All other entries count as a miss.
 */
export interface SealedTexts {
  get(name: string): Promise<string | null>;
  /** Best effort. */
  set(name: string, text: string, ttlMs: number): Promise<void>;
}

export function createSealedTexts(deps: {
  cache: Pick<Cache, 'get' | 'set'>;
  /** Returns the secret that only the replicas that share the texts know; called until it has returned once. */
  key: () => Promise<Buffer>;
  clock: Pick<Clock, 'now'>;
  log: Log;
}): SealedTexts {
  const { cache, clock, log } = deps;
  let known: Buffer | undefined;
  const seal = async (name: string, untilMs: number, text: string): Promise<Buffer> => {
    known ??= await deps.key();
    return createHmac('sha256', known).update(`${name.length}:${name}:${untilMs}:`).update(text).digest();
  };
  return {
    get: async (name) => {
      const found = await cache.get(name);
      if (found === null) return null;
      const [, until, given, text] = /^(\d{1,16}):([0-9a-f]{64}):(.*)$/s.exec(found) ?? [];
      const isOurs =
        text !== undefined &&
        timingSafeEqual(await seal(name, Number(until), text), Buffer.from(given as string, 'hex'));
      if (isOurs) return Number(until) > clock.now() ? text : null;
      log.warn({ name }, 'the cache holds what nobody of this service has put there; it is not used');
      return null;
    },
    set: async (name, text, ttlMs) => {
      const untilMs = clock.now() + ttlMs;
      const sealed = (await seal(name, untilMs, text)).toString('hex');
      await cache.set(name, `${untilMs}:${sealed}:${text}`, ttlMs);
    },
  };
}
