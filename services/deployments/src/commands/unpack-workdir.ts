import { isAppError } from '@baton/kernel';
import type { ServiceDeps } from '../deps';
import { listWaitingWorkdirs, removeWorkdir, type WaitingWorkdir } from '../store/waiting-workdirs.sql';

type Deps = Pick<ServiceDeps, 'db' | 'catalog' | 'log'>;

/**
 * Lets the catalog unpack an archive that was stored with its deployment; the catalog does it once, however often it is called.
 * After a crash before or after it, the row is left to `unpackWaiting`.
 */
export async function unpackWorkdir(
  deps: Pick<Deps, 'db' | 'catalog'>,
  waiting: WaitingWorkdir,
): Promise<void> {
  const { tenant, id, archive, request_id: requestId } = waiting;
  await deps.catalog.unpackFolder(tenant, id, archive, { requestId });
  await removeWorkdir(deps.db.query, waiting.deployment_key);
}

const BATCH = 8;
/** Younger rows are still handled by their request. */
const MIN_AGE_MS = 10_000;
/** After this time an archive that cannot be unpacked is given up. */
const MAX_AGE_MS = 24 * 3_600_000;

/**
 * Unpacks the archives that requests have left behind; several replicas may do the same. Returns the number of unpacked archives.
 */
export async function unpackWaiting(deps: Deps): Promise<number> {
  let count = 0;
  for (const waiting of await listWaitingWorkdirs(deps.db.query, MIN_AGE_MS, BATCH)) {
    try {
      await unpackWorkdir(deps, waiting);
      count += 1;
    } catch (err) {
      const about = { tenant: waiting.tenant, deploymentId: waiting.id, err };
      // The archive is refused now, but was accepted when the deployment was created: the limits have changed.
      const isHopeless = isAppError(err, 'bad_parameters_error') || waiting.age_ms > MAX_AGE_MS;
      if (!isHopeless) deps.log.warn(about, 'files of a working folder wait');
      else {
        deps.log.error(about, 'files of a working folder are given up');
        await removeWorkdir(deps.db.query, waiting.deployment_key);
      }
    }
  }
  return count;
}
