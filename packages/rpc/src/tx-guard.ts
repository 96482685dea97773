import type { AsyncLocalStorage } from 'node:async_hooks';
import { tenantScopeKey } from '@baton/contracts';

const slot = Symbol.for('baton.tx');

/**
 * A network call while a transaction is open holds row locks for as long as another service takes: refuse it.
 * @baton/postgres registers its AsyncLocalStorage under a global symbol, so that neither package imports the other;
 * `isOpen` ends with the transaction, so work that only inherited its async context passes.
 * @throws Error, a bug of the caller.
 */
export function assertNotInTransaction(what: string): void {
  const scope = (globalThis as { [slot]?: AsyncLocalStorage<{ isOpen: boolean }> })[slot]?.getStore();
  if (scope?.isOpen)
    throw new Error(`${what} is called inside a transaction; move the call before or after it`);
}

/** Runs what is served as behind a wire: not bound to the tenant of the request that called it. */
export function outsideRequests<T>(work: () => T): T {
  const storage = (globalThis as { [tenantScopeKey]?: AsyncLocalStorage<unknown> })[tenantScopeKey];
  return storage ? storage.exit(work) : work();
}
