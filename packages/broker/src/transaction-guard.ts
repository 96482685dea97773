import type { AsyncLocalStorage } from 'node:async_hooks';

const KEY = Symbol.for('baton.tx');

/** The mark that packages/postgres leaves on the async context of a transaction; read here without importing it. */
export function assertNotInTransaction(what: string): void {
  const storage = (globalThis as { [KEY]?: AsyncLocalStorage<{ isOpen: boolean }> })[KEY];
  if (storage?.getStore()?.isOpen)
    throw new Error(`${what} inside a database transaction: use outbox.append`);
}
