import { type LeasedWork, leasedWork } from '@baton/service-runtime';
import { type LogBundleDeps, takeLogBundleStep } from '../commands/log-bundles';

/** Makes log bundles, on every replica; what a process that died had is taken when its lease has ended. */
export function driveLogBundles(deps: LogBundleDeps): LeasedWork {
  const takeStep = (stopping: AbortSignal) => takeLogBundleStep(deps, stopping);
  return leasedWork({ name: 'drive-log-bundles', log: deps.log, takeStep });
}
