import { newId } from '@baton/kernel';
import { underLease } from '@baton/service-runtime';
import type { ServiceDeps } from '../deps';
import { leasePluginsUpdate, releasePluginsUpdate, renewPluginsUpdate } from '../store/plugins-updates.sql';
import { drivePluginsUpdate, LEASE_MS } from './drive-plugins-update';

/** Wait after a fault of the platform. */
const RETRY_MS = 2_000;

/**
 * Takes one step of the oldest plugins update without a lease; returns the ms after which to look again, null: there is none. After
 * a crash its lease expires, and another replica repeats the step.
 */
export async function takePluginsUpdateStep(
  deps: ServiceDeps,
  stopping: AbortSignal,
): Promise<number | null> {
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
}
