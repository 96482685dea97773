import type { Log } from '@baton/kernel';
import { type LeasedWork, leasedWork } from '@baton/service-runtime';
import { clearTenantStep } from '../commands/clear-tenants';

/** A removal looks at once; this finds what a crash or a service that was away left over. */
const INTERVAL_MS = 60_000;

/** Removes what removed tenants left in the services, on every replica. */
export function clearTenants(deps: Parameters<typeof clearTenantStep>[0] & { log: Log }): LeasedWork {
  const work = leasedWork({ name: 'clear-tenants', log: deps.log, takeStep: () => clearTenantStep(deps) });
  return { ...work, loop: { ...work.loop, intervalMs: INTERVAL_MS } };
}
