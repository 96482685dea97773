import { maintenanceChanged } from '@baton/contracts';
import { type Db, outbox, type Tx } from '@baton/postgres';
import type { ExecutionsPort } from '../adapters/executions.client';
import {
  type MaintenanceRow,
  type MaintenanceState,
  presentMaintenance,
  type RemainingExecution,
} from '../domain/maintenance';
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
 * Moves the mode from activating to activated once nothing runs, and returns the current mode (reference/rest-api.md 5.20).
 * Called by reads and by a loop on every replica, so the next call repairs a crash after any await. Queued executions are waited
 * for too: the queue keeps moving while the mode is activating.
 */
export async function settleMaintenance(deps: MaintenanceDeps): Promise<MaintenanceBody> {
  const row = await readMaintenance(deps.db.query);
  if (row.status !== 'activating') return presentMaintenance(row, []);
  const { executions, total } = await deps.executions.unfinished();
  return total > 0 ? presentMaintenance(row, executions) : complete(deps);
}

async function complete(deps: MaintenanceDeps): Promise<MaintenanceBody> {
  const row = await deps.db.tx(async (tx): Promise<MaintenanceRow> => {
    if (await completeActivation(tx)) await announce(tx, 'activated');
    return readMaintenance(tx);
  });
  const none: RemainingExecution[] = [];
  return presentMaintenance(row, none);
}

/** Wakes the gateways. When the message is lost, they learn the state with their next report. */
async function announce(tx: Tx<DB>, status: MaintenanceState): Promise<void> {
  await outbox.append(tx, maintenanceChanged, { tenant: '', key: 'maintenance' }, { status });
}

/** Activates maintenance mode; null when the mode is activating or activated already. */
export async function activateMaintenance(
  deps: MaintenanceDeps,
  username: string,
): Promise<MaintenanceBody | null> {
  const isChanged = await deps.db.tx(async (tx) => {
    const isRequested = await requestActivation(tx, username);
    if (isRequested) await announce(tx, 'activating');
    return isRequested;
  });
  return isChanged ? settleMaintenance(deps) : null;
}

/**
 * Ends maintenance mode. Returns null when it is off already; else the body, with the user who requested the mode and the time.
 * No work has to be started here: the loops of the executions service start queued executions.
 */
export async function deactivateMaintenance(deps: MaintenanceDeps): Promise<MaintenanceBody | null> {
  const before = await deps.db.tx(async (tx) => {
    const row = await readMaintenance(tx);
    if (!(await endMaintenance(tx))) return null;
    await announce(tx, 'deactivated');
    return row;
  });
  return before && presentMaintenance({ ...before, status: 'deactivated' }, []);
}
