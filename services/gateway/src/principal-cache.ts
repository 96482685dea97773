import { hash, randomBytes } from 'node:crypto';
import type { Principal } from '@baton/contracts';
import { type Clock, isAppError } from '@baton/kernel';
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
  /**
   * The caller remembered for these words, or the one that `load` finds; what it throws is not remembered. One that is
   * asked for in the last quarter of its time is renewed meanwhile, so that a busy client never waits for it.
   */
  get(words: readonly string[], load: Load): Caller | Promise<Caller>;
  /** Forgets the user's principals, or all when the name is empty; also those that are being loaded right now. */
  forget(username: string): void;
}

const MAX_CALLERS = 10_000;
const RENEWED_AFTER = 0.75;

interface Entry {
  caller: Caller;
  expiresMs: number;
  /** From then on the next asker has it renewed; once. */
  renewMs: number;
}

type Load = () => Promise<{ principal: Principal; cacheMs: number }>;

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

  const load = async (id: string, ask: Load): Promise<Caller> => {
    const askedAt = generation;
    const { principal, cacheMs } = await ask();
    const caller = callerOf(principal);
    const nowMs = clock.now();
    if (askedAt === generation && cacheMs > 0)
      entries.set(id, { caller, expiresMs: nowMs + cacheMs, renewMs: nowMs + RENEWED_AFTER * cacheMs });
    return caller;
  };

  /** Many requests of one client at once ask identity once. */
  const loadOnce = (id: string, ask: Load): Promise<Caller> => {
    const known = loading.get(id);
    if (known) return known;
    const asking = load(id, ask).finally(() => {
      if (loading.get(id) === asking) loading.delete(id);
    });
    loading.set(id, asking);
    return asking;
  };

  const renew = (id: string, entry: Entry, ask: Load): void => {
    entry.renewMs = Number.POSITIVE_INFINITY;
    loadOnce(id, ask).catch((error) => {
      // Refused: the next request hears it. Without an answer it stays for the time that it was given.
      const isUnanswered = isAppError(error) && error.entry.retryable;
      if (!isUnanswered && entries.get(id) === entry) entries.delete(id);
    });
  };

  return {
    get(words, ask) {
      // Lengths in between: ['ab', 'c'] is not ['a', 'bc'].
      let text = secret;
      for (const word of words) text += `${word.length}:${word}`;
      const id = hash('sha256', text, 'base64');
      const entry = entries.get(id);
      const nowMs = clock.now();
      if (!entry || entry.expiresMs <= nowMs) return loadOnce(id, ask);
      if (entry.renewMs <= nowMs) renew(id, entry, ask);
      return entry.caller;
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
