import { type LeasedWork, leasedWork } from '@baton/service-runtime';
import { clearTenantStep } from '../commands/clear-tenants';

/** Removes the leftovers of removed tenants from the services, on every replica; a removal starts it at once. */
export function clearTenants(deps: Parameters<typeof clearTenantStep>[0]): LeasedWork {
  const takeStep = (stopping: AbortSignal) => clearTenantStep(deps, stopping);
  return leasedWork({ name: 'clear-tenants', log: deps.log, takeStep });
}
