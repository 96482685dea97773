import type { deploymentDeleted, Envelope, MessageType } from '@baton/contracts';
import type { Db } from '@baton/postgres';
import type { DB } from '../../store/tables.gen';
import { forgetDeployment } from '../commands/forget-executions';

type Deleted = typeof deploymentDeleted extends MessageType<infer T> ? T : never;

/**
 * Deletes the schedules and executions of a deployment that is gone; its events too, when the caller asked for that or the wire
 * always drops them.
 * A new deployment with the same id keeps its own, however late this message arrives. Repeating is harmless.
 */
export function onDeploymentDeleted(deps: { db: Db<DB>; wire: { dropsEventsWithDeployment: boolean } }) {
  return async ({ tenant, time, payload }: Envelope<Deleted>): Promise<void> => {
    const { deploymentId, deleteLogs, createExecutionId } = payload;
    const gone = { tenant, deploymentId, madeBy: createExecutionId ?? null, at: time };
    await forgetDeployment(deps.db, gone, deleteLogs || deps.wire.dropsEventsWithDeployment);
  };
}
