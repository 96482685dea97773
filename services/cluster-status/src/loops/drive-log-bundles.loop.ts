import type { Loop } from '@baton/service-runtime';
import { driveLogBundle, type LogBundleDeps } from '../commands/log-bundles';
import { leaseLogBundle, releaseLogBundle, renewLogBundle } from '../store/log-bundles.sql';

/** Finds what other processes left; this one looks when a bundle is asked for and when a pause is over. */
const INTERVAL_MS = 10_000;
/** The database's clock decides what is due; ours only wakes. */
const DUE_MARGIN_MS = 20;
const LEASE_MS = 15_000;
const RENEW_MS = 3_000;
/** After a fault of the platform. */
const RETRY_MS = 2_000;
const MAX_STEPS = 100;

/** Makes log bundles, on every replica; what a process that died had is taken when its lease has ended. */
export function driveLogBundles(deps: LogBundleDeps): {
  loop: Loop;
  work: () => Promise<void>;
  stop: () => Promise<void>;
} {
  const stopping = new AbortController();
  let working: Promise<void> | null = null;
  const takeSteps = async (): Promise<void> => {
    for (let step = 0; step < MAX_STEPS && !stopping.signal.aborted; step++) {
      const bundle = await leaseLogBundle(deps.db.query, deps.instanceId, LEASE_MS);
      if (!bundle) return;
      const renewal = setInterval(() => {
        renewLogBundle(deps.db.query, bundle, deps.instanceId, LEASE_MS).catch((err: unknown) =>
          deps.log.debug({ err }, 'lease of a log bundle not renewed'),
        );
      }, RENEW_MS);
      let pauseMs = RETRY_MS;
      try {
        pauseMs = await driveLogBundle(deps, bundle, stopping.signal);
      } catch (err) {
        deps.log.warn({ logBundleId: bundle.id, err }, 'a log bundle waits');
      } finally {
        clearInterval(renewal);
      }
      await releaseLogBundle(deps.db.query, bundle, deps.instanceId, pauseMs);
      if (pauseMs > 0) setTimeout(() => void work(), pauseMs + DUE_MARGIN_MS).unref();
    }
  };
  const work = (): Promise<void> => {
    working ??= takeSteps()
      .catch((err: unknown) => deps.log.warn({ err }, 'log bundles are not driven'))
      .finally(() => {
        working = null;
      });
    return working;
  };
  return {
    work,
    // Beside the loop: a tick must not last as long as a bundle.
    loop: { name: 'drive-log-bundles', intervalMs: INTERVAL_MS, tickOnce: async () => void work() },
    stop: async () => {
      stopping.abort(new Error('the process stops'));
      await working;
    },
  };
}
