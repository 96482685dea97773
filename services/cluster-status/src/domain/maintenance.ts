/**
 * Maintenance mode (reference/rest-api.md 5.20). Not `defineMachine`: the mode goes round and has no end.
 * `requested` while work runs leads to activating, `drained` on to activated; the gateway refuses by these states.
 */
export type MaintenanceState = 'deactivated' | 'activating' | 'activated';
export type MaintenanceEvent = 'requested' | 'drained' | 'ended';

const table: Record<MaintenanceState, Partial<Record<MaintenanceEvent, MaintenanceState>>> = {
  deactivated: { requested: 'activating' },
  activating: { drained: 'activated', ended: 'deactivated' },
  activated: { ended: 'deactivated' },
};

/** The state after `event`; null where nothing changes, which is answered with 304. */
function nextMaintenance(state: MaintenanceState, event: MaintenanceEvent): MaintenanceState | null {
  return table[state][event] ?? null;
}

/** States in which `event` changes something: what the update statements expect. */
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

/** Body of the answers; what is not there is an empty text. Executions are shown while they are waited for. */
export function presentMaintenance(row: MaintenanceRow, remaining: RemainingExecution[]) {
  return {
    status: row.status,
    activated_at: row.activated_at ?? '',
    activation_requested_at: row.activation_requested_at ?? '',
    remaining_executions: row.status === 'activating' ? remaining : null,
    requested_by: row.requested_by ?? '',
  };
}
