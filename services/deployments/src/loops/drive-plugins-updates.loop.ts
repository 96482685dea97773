import { type LeasedWork, leasedWork } from '@baton/service-runtime';
import { takePluginsUpdateStep } from '../commands/take-plugins-update-step';
import type { ServiceDeps } from '../deps';

/** Carries plugins updates out, on every replica: each step takes the oldest one that nobody has, and gives it back. */
export function drivePluginsUpdates(deps: ServiceDeps): LeasedWork {
  const takeStep = (stopping: AbortSignal) => takePluginsUpdateStep(deps, stopping);
  return leasedWork({ name: 'drive-plugins-updates', log: deps.log, takeStep });
}
