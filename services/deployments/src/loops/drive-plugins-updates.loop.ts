import { newId } from '@baton/kernel';
import { type LeasedWork, leasedWork, underLease } from '@baton/service-runtime';
import { drivePluginsUpdate, LEASE_MS } from '../commands/drive-plugins-update';
import type { ServiceDeps } from '../deps';
import { leasePluginsUpdate, releasePluginsUpdate, renewPluginsUpdate } from '../store/plugins-updates.sql';

/** After a fault of the platform. */
const RETRY_MS = 2_000;

/** Carries plugins updates out, on every replica: each step takes the oldest one that nobody has, and gives it back. */
export function drivePluginsUpdates(deps: ServiceDeps): LeasedWork {
  const takeStep = async (stopping: AbortSignal): Promise<number | null> => {
    const owner = `${deps.instanceId}/${newId()}`;
    const update = await leasePluginsUpdate(deps.db.query, owner, LEASE_MS);
    if (!update) return null;
    const renew = () => renewPluginsUpdate(deps.db.query, update.id, owner, LEASE_MS);
    const lease = { leaseMs: LEASE_MS, renew, stopping, log: deps.log };
    const pauseMs = await underLease(lease, () => drivePluginsUpdate(deps, update)).catch((err: unknown) => {
      deps.log.warn({ pluginsUpdateId: update.id, state: update.state, err }, 'a plugins update waits');
      return RETRY_MS;
    });
    await releasePluginsUpdate(deps.db.query, update.id, owner, pauseMs);
    return pauseMs;
  };
  return leasedWork({ name: 'drive-plugins-updates', log: deps.log, takeStep });
}
