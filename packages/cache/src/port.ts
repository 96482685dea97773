/** A shared memory that may forget everything at any time: never needed for correctness. */
export interface Cache {
  /** The value, or null when it is not there (any more) or the cache cannot be reached. */
  get(key: string): Promise<string | null>;
  /** Best effort. `ttlMs` is at least 1. */
  set(key: string, value: string, ttlMs: number): Promise<void>;
  delete(key: string): Promise<void>;
  /** Adds one to a counter that lives `ttlMs` from its first increment; 0 when the cache cannot be reached. */
  increment(key: string, ttlMs: number): Promise<number>;
  /** To every subscriber that is there now; best effort. */
  publish(channel: string, text: string): Promise<void>;
  /** Resolves when messages arrive; the answer unsubscribes. */
  subscribe(channel: string, receive: (text: string) => void): Promise<() => Promise<void>>;
  /** @throws when the cache does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
