import { deploymentDriftChanged } from '@baton/contracts';
import { outbox, outgoing } from '@baton/postgres';
import type { ServiceDeps } from '../deps';
import { type DriftSummary, summarizeDrift } from '../domain/drift-summary';
import { hasDriftChanges, takeDriftChanges } from '../store/drift.sql';

const BATCH = 500;

/**
 * Makes messages of the changes of drift that the trigger `node_instances_drift_kept` has written. One transaction deletes the rows
 * and appends the messages, so a crash loses and doubles nothing.
 * @returns `again` when the batch was full.
 */
export async function tellDrift({ db }: Pick<ServiceDeps, 'db'>): Promise<{ again: boolean }> {
  if (!(await hasDriftChanges(db.query))) return { again: false };
  const taken = await db.tx(async (tx) => {
    const changes = await takeDriftChanges(tx, BATCH);
    await outbox.appendAll(tx, summarizeDrift(changes).map(messageOf));
    return changes.length;
  });
  return { again: taken === BATCH };
}

const messageOf = ({ tenant, ...payload }: DriftSummary) =>
  outgoing(deploymentDriftChanged, { tenant, key: payload.deploymentId }, payload);
