/**
 * Maintenance mode (reference/rest-api.md 5.20). Not `defineMachine`: the mode goes round and has no final state. `requested`
 * leads to activating while work still runs, `drained` leads on to activated. The gateway refuses requests by these states.
 */
export type MaintenanceState = 'deactivated' | 'activating' | 'activated';
export type MaintenanceEvent = 'requested' | 'drained' | 'ended';

const table: Record<MaintenanceState, Partial<Record<MaintenanceEvent, MaintenanceState>>> = {
  deactivated: { requested: 'activating' },
  activating: { drained: 'activated', ended: 'deactivated' },
  activated: { ended: 'deactivated' },
};

/** Returns the state after `event`; null when nothing changes, which the route answers with 304. */
function nextMaintenance(state: MaintenanceState, event: MaintenanceEvent): MaintenanceState | null {
  return table[state][event] ?? null;
}

/** Returns the states in which `event` changes something: the update statements require one of them. */
export function statesBefore(event: MaintenanceEvent): MaintenanceState[] {
  return (Object.keys(table) as MaintenanceState[]).filter((state) => nextMaintenance(state, event) !== null);
}

export interface MaintenanceRow {
  status: MaintenanceState;
  activation_requested_at: string | null;
  activated_at: string | null;
  requested_by: string | null;
}
export interface RemainingExecution {
  id: string;
  status: string;
  deployment_id: string | null;
  workflow_id: string;
}

/** Returns the body of the answers; a missing value is an empty text. Executions are shown while the mode waits for them. */
export function presentMaintenance(row: MaintenanceRow, remaining: RemainingExecution[]) {
  return {
    status: row.status,
    activated_at: row.activated_at ?? '',
    activation_requested_at: row.activation_requested_at ?? '',
    remaining_executions: row.status === 'activating' ? remaining : null,
    requested_by: row.requested_by ?? '',
  };
}
