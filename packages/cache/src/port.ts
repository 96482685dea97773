/** A shared cache that may lose its entries at any time: never needed for correctness. */
export interface Cache {
  /** Returns the value, or null when it is absent or expired, or the cache cannot be reached. */
  get(key: string): Promise<string | null>;
  /** Best effort. `ttlMs` is at least 1. */
  set(key: string, value: string, ttlMs: number): Promise<void>;
  delete(key: string): Promise<void>;
  /** Adds one to a counter that lives `ttlMs` from its first increment, and returns it; 0 when the cache cannot be reached. */
  increment(key: string, ttlMs: number): Promise<number>;
  /** Sends a text to every current subscriber; best effort. */
  publish(channel: string, text: string): Promise<void>;
  /** Resolves when messages begin to arrive, to a function that unsubscribes. */
  subscribe(channel: string, receive: (text: string) => void): Promise<() => Promise<void>>;
  /** @throws when the cache does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
