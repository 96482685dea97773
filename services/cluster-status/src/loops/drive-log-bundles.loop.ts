import { newId } from '@baton/kernel';
import { type LeasedWork, leasedWork, underLease } from '@baton/service-runtime';
import { driveLogBundle, type LogBundleDeps } from '../commands/log-bundles';
import { leaseLogBundle, releaseLogBundle, renewLogBundle } from '../store/log-bundles.sql';

const LEASE_MS = 15_000;
/** After a fault of the platform. */
const RETRY_MS = 2_000;

/** Makes log bundles, on every replica; what a process that died had is taken when its lease has ended. */
export function driveLogBundles(deps: LogBundleDeps): LeasedWork {
  const takeStep = async (stopping: AbortSignal): Promise<number | null> => {
    const owner = `${deps.instanceId}/${newId()}`;
    const bundle = await leaseLogBundle(deps.db.query, owner, LEASE_MS);
    if (!bundle) return null;
    const renew = () => renewLogBundle(deps.db.query, bundle, owner, LEASE_MS);
    const lease = { leaseMs: LEASE_MS, renew, stopping, log: deps.log };
    const pauseMs = await underLease(lease, (signal) => driveLogBundle(deps, bundle, signal)).catch(
      (err: unknown) => {
        deps.log.warn({ logBundleId: bundle.id, err }, 'a log bundle waits');
        return RETRY_MS;
      },
    );
    await releaseLogBundle(deps.db.query, bundle, owner, pauseMs);
    return pauseMs;
  };
  return leasedWork({ name: 'drive-log-bundles', log: deps.log, takeStep });
}
