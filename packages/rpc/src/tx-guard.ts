import type { AsyncLocalStorage } from 'node:async_hooks';
import { tenantScopeKey } from '@baton/contracts';

const slot = Symbol.for('baton.tx');

/**
 * Refuses a network call inside an open transaction: it would hold row locks for as long as another service takes. @baton/postgres
 * registers its AsyncLocalStorage under a global symbol, so that neither package imports the other. `isOpen` turns false with the
 * end of the transaction, so work that only inherited its async context is allowed.
 * @throws Error, a bug of the caller.
 */
export function assertNotInTransaction(what: string): void {
  const scope = (globalThis as { [slot]?: AsyncLocalStorage<{ isOpen: boolean }> })[slot]?.getStore();
  if (scope?.isOpen)
    throw new Error(`${what} is called inside a transaction; move the call before or after it`);
}

/** Runs a served call as if it came over the network: outside the tenant scope of the request that made it. */
export function outsideRequests<T>(work: () => T): T {
  const storage = (globalThis as { [tenantScopeKey]?: AsyncLocalStorage<unknown> })[tenantScopeKey];
  return storage ? storage.exit(work) : work();
}
