import type { AsyncLocalStorage } from 'node:async_hooks';

const KEY = Symbol.for('baton.tx');

/** Reads the mark that packages/postgres sets on the async context of a transaction, without importing that package. */
export function assertNotInTransaction(what: string): void {
  const storage = (globalThis as { [KEY]?: AsyncLocalStorage<{ isOpen: boolean }> })[KEY];
  if (storage?.getStore()?.isOpen)
    throw new Error(`${what} inside a database transaction: use outbox.append`);
}
