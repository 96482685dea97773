import type { Loop } from '@baton/service-runtime';
import { drivePluginsUpdate, LEASE_MS } from '../commands/drive-plugins-update';
import type { ServiceDeps } from '../deps';
import { leasePluginsUpdate, releasePluginsUpdate } from '../store/plugins-updates.sql';

/** Finds what other processes left; this one looks when an update is made and when a pause is over. */
const INTERVAL_MS = 10_000;
/** The database's clock decides what is due; ours only wakes. */
const DUE_MARGIN_MS = 20;
/** After a fault of the platform. */
const RETRY_MS = 2_000;
/** Steps that one round may take. */
const MAX_STEPS = 200;

/**
 * Carries plugins updates out, on every replica: each step takes the oldest one that nobody has, and gives it back. What a
 * process that died had is taken when its lease has ended.
 */
export function drivePluginsUpdates(deps: ServiceDeps): {
  loop: Loop;
  kick: () => void;
  idle: () => Promise<void>;
} {
  let working: Promise<void> | null = null;
  const takeSteps = async (): Promise<void> => {
    for (let step = 0; step < MAX_STEPS; step++) {
      const update = await leasePluginsUpdate(deps.db.query, deps.instanceId, LEASE_MS);
      if (!update) return;
      let pauseMs = RETRY_MS;
      try {
        pauseMs = await drivePluginsUpdate(deps, update);
      } catch (err) {
        deps.log.warn({ pluginsUpdateId: update.id, state: update.state, err }, 'a plugins update waits');
      }
      await releasePluginsUpdate(deps.db.query, update.id, deps.instanceId, pauseMs);
      if (pauseMs > 0) setTimeout(kick, pauseMs + DUE_MARGIN_MS).unref();
    }
  };
  const work = (): Promise<void> => {
    working ??= takeSteps().finally(() => {
      working = null;
    });
    return working;
  };
  const kick = (): void =>
    void work().catch((err: unknown) => deps.log.warn({ err }, 'plugins updates are not driven'));
  return {
    loop: { name: 'drive-plugins-updates', intervalMs: INTERVAL_MS, tickOnce: work },
    kick,
    idle: async () => {
      await working?.catch(() => undefined);
    },
  };
}
