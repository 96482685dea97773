import { type LeasedWork, leasedWork } from '@baton/service-runtime';
import { type LogBundleDeps, takeLogBundleStep } from '../commands/log-bundles';

/** Makes log bundles, on every replica. A bundle whose process died is taken over when its lease has ended. */
export function driveLogBundles(deps: LogBundleDeps): LeasedWork {
  const takeStep = (stopping: AbortSignal) => takeLogBundleStep(deps, stopping);
  return leasedWork({ name: 'drive-log-bundles', log: deps.log, takeStep });
}
