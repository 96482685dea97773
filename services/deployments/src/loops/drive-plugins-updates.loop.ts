import { type LeasedWork, leasedWork } from '@baton/service-runtime';
import { takePluginsUpdateStep } from '../commands/take-plugins-update-step';
import type { ServiceDeps } from '../deps';

/** Performs plugins updates, on every replica: each step leases the oldest update that is free, and releases it. */
export function drivePluginsUpdates(deps: ServiceDeps): LeasedWork {
  const takeStep = (stopping: AbortSignal) => takePluginsUpdateStep(deps, stopping);
  return leasedWork({ name: 'drive-plugins-updates', log: deps.log, takeStep });
}
