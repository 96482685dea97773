import { type LeasedWork, leasedWork } from '@baton/service-runtime';
import { drivePluginsUpdate, LEASE_MS } from '../commands/drive-plugins-update';
import type { ServiceDeps } from '../deps';
import { leasePluginsUpdate, releasePluginsUpdate } from '../store/plugins-updates.sql';

/** After a fault of the platform. */
const RETRY_MS = 2_000;

/** Carries plugins updates out, on every replica: each step takes the oldest one that nobody has, and gives it back. */
export function drivePluginsUpdates(deps: ServiceDeps): LeasedWork {
  const takeStep = async (): Promise<number | null> => {
    const update = await leasePluginsUpdate(deps.db.query, deps.instanceId, LEASE_MS);
    if (!update) return null;
    const pauseMs = await drivePluginsUpdate(deps, update).catch((err: unknown) => {
      deps.log.warn({ pluginsUpdateId: update.id, state: update.state, err }, 'a plugins update waits');
      return RETRY_MS;
    });
    await releasePluginsUpdate(deps.db.query, update.id, deps.instanceId, pauseMs);
    return pauseMs;
  };
  return leasedWork({ name: 'drive-plugins-updates', log: deps.log, takeStep });
}
