import type { AsyncLocalStorage } from 'node:async_hooks';

const slot = Symbol.for('baton.tx');

/**
 * A network call while a transaction is open holds row locks for as long as another service takes: refuse it.
 * @baton/postgres registers its AsyncLocalStorage under a global symbol, so that neither package imports the other.
 * @throws Error, a bug of the caller.
 */
export function assertNotInTransaction(what: string): void {
  const storage = (globalThis as { [slot]?: AsyncLocalStorage<unknown> })[slot];
  if (storage?.getStore()) throw new Error(`${what} is called inside a transaction; move the call before or after it`);
}
