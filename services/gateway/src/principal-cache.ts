import { hash, randomBytes } from 'node:crypto';
import type { Principal } from '@baton/contracts';
import type { Clock } from '@baton/kernel';
import { LRUCache } from 'lru-cache';

/** A principal with what every request asks of it worked out. */
export interface Caller {
  principal: Principal;
  permissions: ReadonlySet<string>;
  /** Of a call with an execution's token: the tenant that the execution belongs to. */
  executionTenant?: string;
  /** Of such a call: its execution is being cancelled. */
  isCancelling?: boolean;
}

export function callerOf(principal: Principal): Caller {
  return { principal, permissions: new Set(principal.permissions) };
}

export function holds(caller: Caller, permission: string): boolean {
  return caller.principal.isBootstrapAdmin || caller.permissions.has(permission);
}

export interface PrincipalCache {
  /** The caller remembered for these words, or the one that `load` finds; what it throws is not remembered. */
  get(
    words: readonly string[],
    load: () => Promise<{ principal: Principal; cacheMs: number }>,
  ): Caller | Promise<Caller>;
  /** Forgets the user's principals, or all when the name is empty; also those that are being loaded right now. */
  forget(username: string): void;
}

const MAX_CALLERS = 10_000;

interface Entry {
  caller: Caller;
  expiresMs: number;
}

/**
 * Keyed by a hash over a secret of this process and the words: the memory holds no credential in clear. Nobody sees the
 * hashes, so a plain prefix serves; the one-shot function costs a third of createHmac, and this runs for every request.
 */
export function createPrincipalCache(clock: Clock): PrincipalCache {
  const secret = randomBytes(32).toString('hex');
  const entries = new LRUCache<string, Entry>({ max: MAX_CALLERS });
  const loading = new Map<string, Promise<Caller>>();
  // Goes up with every change: an answer asked for before the change must not be kept after it.
  let generation = 0;

  const load = async (
    id: string,
    ask: () => Promise<{ principal: Principal; cacheMs: number }>,
  ): Promise<Caller> => {
    const askedAt = generation;
    const { principal, cacheMs } = await ask();
    const caller = callerOf(principal);
    if (askedAt === generation && cacheMs > 0) entries.set(id, { caller, expiresMs: clock.now() + cacheMs });
    return caller;
  };

  return {
    get(words, ask) {
      // Lengths in between: ['ab', 'c'] is not ['a', 'bc'].
      let text = secret;
      for (const word of words) text += `${word.length}:${word}`;
      const id = hash('sha256', text, 'base64');
      const entry = entries.get(id);
      if (entry && entry.expiresMs > clock.now()) return entry.caller;
      // Many requests of one client at once ask identity once.
      let asking = loading.get(id);
      if (!asking) {
        asking = load(id, ask).finally(() => {
          if (loading.get(id) === asking) loading.delete(id);
        });
        loading.set(id, asking);
      }
      return asking;
    },
    forget(username) {
      generation += 1;
      loading.clear();
      if (username === '') return entries.clear();
      const wanted = username.toLowerCase();
      for (const [id, { caller }] of entries.entries()) {
        if (caller.principal.username.toLowerCase() === wanted) entries.delete(id);
      }
    },
  };
}
