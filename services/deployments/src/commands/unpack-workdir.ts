import { isAppError } from '@baton/kernel';
import type { ServiceDeps } from '../deps';
import { listWaitingWorkdirs, removeWorkdir, type WaitingWorkdir } from '../store/waiting-workdirs.sql';

type Deps = Pick<ServiceDeps, 'db' | 'catalog' | 'log'>;

/**
 * Has the catalog unpack an archive that was stored with its deployment; it does so once, however often it is asked. A
 * crash before or after that leaves the row to `unpackWaiting`.
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
/** Younger ones are in the hands of their request. */
const MIN_AGE_MS = 10_000;
/** After that an archive that cannot be unpacked is given up. */
const MAX_AGE_MS = 24 * 3_600_000;

/** What requests have left behind; several replicas may do the same. Answers how many are in their folders now. */
export async function unpackWaiting(deps: Deps): Promise<number> {
  let count = 0;
  for (const waiting of await listWaitingWorkdirs(deps.db.query, MIN_AGE_MS, BATCH)) {
    try {
      await unpackWorkdir(deps, waiting);
      count += 1;
    } catch (err) {
      const about = { tenant: waiting.tenant, deploymentId: waiting.id, err };
      // It is no archive, or one that is refused: it was one when the deployment was made, so limits have changed.
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
