import type { Db } from '@baton/postgres';
import type { ExecutionsPort } from '../adapters/executions.client';
import { type MaintenanceRow, presentMaintenance, type RemainingExecution } from '../domain/maintenance';
import {
  completeActivation,
  endMaintenance,
  readMaintenance,
  requestActivation,
} from '../store/maintenance.sql';
import type { DB } from '../store/tables.gen';

export interface MaintenanceDeps {
  db: Db<DB>;
  executions: ExecutionsPort;
}
export type MaintenanceBody = ReturnType<typeof presentMaintenance>;

/**
 * Goes on from activating to activated once nothing runs, and says where the mode stands (reference/rest-api.md 5.20).
 * Called by reads and by a loop on every replica, so a crash after any await is made good by the next of them.
 * Queued executions are waited for too: the queue goes on moving while the mode is on its way.
 */
export async function settleMaintenance(deps: MaintenanceDeps): Promise<MaintenanceBody> {
  const row = await readMaintenance(deps.db.query);
  if (row.status !== 'activating') return presentMaintenance(row, []);
  const { executions, total } = await deps.executions.unfinished();
  return total > 0 ? presentMaintenance(row, executions) : complete(deps);
}

async function complete(deps: MaintenanceDeps): Promise<MaintenanceBody> {
  const row = await deps.db.tx(async (tx): Promise<MaintenanceRow> => {
    await completeActivation(tx);
    return readMaintenance(tx);
  });
  const none: RemainingExecution[] = [];
  return presentMaintenance(row, none);
}

/** Null when the mode is on, or on its way, already. */
export async function activateMaintenance(
  deps: MaintenanceDeps,
  username: string,
): Promise<MaintenanceBody | null> {
  const isChanged = await deps.db.tx((tx) => requestActivation(tx, username));
  return isChanged ? settleMaintenance(deps) : null;
}

/**
 * Null when the mode is off already; else who had asked for it, and when. Nothing has to be started: queued executions are
 * looked after by the executions service, which goes by its own loops.
 */
export async function deactivateMaintenance(deps: MaintenanceDeps): Promise<MaintenanceBody | null> {
  const before = await deps.db.tx(async (tx) => {
    const row = await readMaintenance(tx);
    return (await endMaintenance(tx)) ? row : null;
  });
  return before && presentMaintenance({ ...before, status: 'deactivated' }, []);
}
