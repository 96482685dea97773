import { hash, randomBytes } from 'node:crypto';
import type { Principal } from '@baton/contracts';
import type { AgentTokenName } from '@baton/contracts/http/agent-token';
import { type Clock, isAppError } from '@baton/kernel';
import { LRUCache } from 'lru-cache';

/** A principal with its permissions as a set, which every request needs. */
export interface Caller {
  principal: Principal;
  permissions: ReadonlySet<string>;
  /** Only for a call with an execution token: the tenant of the execution. */
  executionTenant?: string;
  /** Only for a call with an execution token that an agent has: what it may reach (contracts, http/agent-token.ts). */
  agent?: Readonly<Record<AgentTokenName, string>> & { instances: readonly string[] };
  /** Only for a call with an execution token: its execution is being cancelled. */
  isCancelling?: boolean;
  /** Epoch ms at which the session or token ends if it is not used again; absent: it has no end. */
  endsAtMs?: number;
}

export function callerOf(principal: Principal): Caller {
  return { principal, permissions: new Set(principal.permissions) };
}

export function holds(caller: Caller, permission: string): boolean {
  return caller.principal.isBootstrapAdmin || caller.permissions.has(permission);
}

export interface PrincipalCache {
  /**
   * Returns the caller cached for these words, or the caller that `load` returns; errors of `load` are not cached. An entry that is
   * read in the last quarter of its time is renewed in the background, so that a busy client never waits for it.
   */
  get(words: readonly string[], load: Load): Caller | Promise<Caller>;
  /** Removes the user's principals, or all principals when the name is empty; also those that are being loaded now. */
  forget(username: string): void;
}

const MAX_CALLERS = 10_000;
const RENEWED_AFTER = 0.75;

interface Entry {
  caller: Caller;
  expiresMs: number;
  /** From this time on the next reader starts the renewal; only once. */
  renewMs: number;
}

type Load = () => Promise<{ principal: Principal; cacheMs: number; endsInMs?: number }>;

/**
 * The key is a hash over a secret of this process and the words, so that no credential is in memory in clear. The hashes never
 * leave the process, so the secret as a plain prefix is enough. The one-shot hash function costs a third of createHmac, and this
 * code runs for every request.
 */
export function createPrincipalCache(clock: Clock): PrincipalCache {
  const secret = randomBytes(32).toString('hex');
  const entries = new LRUCache<string, Entry>({ max: MAX_CALLERS });
  const loading = new Map<string, Promise<Caller>>();
  // Increased with every change: an answer requested before the change must not be cached after it.
  let generation = 0;

  const load = async (id: string, ask: Load): Promise<Caller> => {
    const askedAt = generation;
    const { principal, cacheMs, endsInMs } = await ask();
    const nowMs = clock.now();
    const caller = {
      ...callerOf(principal),
      ...(endsInMs === undefined ? {} : { endsAtMs: nowMs + endsInMs }),
    };
    // No answer is cached for longer than the session or token lasts.
    const keptMs = Math.min(cacheMs, endsInMs ?? cacheMs);
    if (askedAt === generation && keptMs > 0)
      entries.set(id, { caller, expiresMs: nowMs + keptMs, renewMs: nowMs + RENEWED_AFTER * keptMs });
    return caller;
  };

  /** Loads a caller once for concurrent requests of one client. */
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
      // A refusal removes the entry, so that the next request gets the refusal. Without an answer the entry stays until it expires.
      const isUnanswered = isAppError(error) && error.entry.retryable;
      if (!isUnanswered && entries.get(id) === entry) entries.delete(id);
    });
  };

  return {
    get(words, ask) {
      // The lengths separate the words: ['ab', 'c'] is not ['a', 'bc'].
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
