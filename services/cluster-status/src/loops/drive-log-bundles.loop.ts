import { type LeasedWork, leasedWork } from '@baton/service-runtime';
import { driveLogBundle, type LogBundleDeps } from '../commands/log-bundles';
import { leaseLogBundle, releaseLogBundle, renewLogBundle } from '../store/log-bundles.sql';

const LEASE_MS = 15_000;
const RENEW_MS = 3_000;
/** After a fault of the platform. */
const RETRY_MS = 2_000;

/** Makes log bundles, on every replica; what a process that died had is taken when its lease has ended. */
export function driveLogBundles(deps: LogBundleDeps): LeasedWork {
  const takeStep = async (stopping: AbortSignal): Promise<number | null> => {
    const bundle = await leaseLogBundle(deps.db.query, deps.instanceId, LEASE_MS);
    if (!bundle) return null;
    const renewal = setInterval(() => {
      renewLogBundle(deps.db.query, bundle, deps.instanceId, LEASE_MS).catch((err: unknown) =>
        deps.log.debug({ err }, 'lease of a log bundle not renewed'),
      );
    }, RENEW_MS);
    let pauseMs = RETRY_MS;
    try {
      pauseMs = await driveLogBundle(deps, bundle, stopping);
    } catch (err) {
      deps.log.warn({ logBundleId: bundle.id, err }, 'a log bundle waits');
    } finally {
      clearInterval(renewal);
    }
    await releaseLogBundle(deps.db.query, bundle, deps.instanceId, pauseMs);
    return pauseMs;
  };
  return leasedWork({ name: 'drive-log-bundles', log: deps.log, takeStep });
}
