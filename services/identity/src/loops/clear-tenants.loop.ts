import { type LeasedWork, leasedWork } from '@baton/service-runtime';
import { clearTenantStep } from '../commands/clear-tenants';

/** Removes what removed tenants left in the services, on every replica; a removal looks at once. */
export function clearTenants(deps: Parameters<typeof clearTenantStep>[0]): LeasedWork {
  const takeStep = (stopping: AbortSignal) => clearTenantStep(deps, stopping);
  return leasedWork({ name: 'clear-tenants', log: deps.log, takeStep });
}
