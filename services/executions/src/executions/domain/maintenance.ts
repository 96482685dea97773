/** Knows from the last heartbeat whether the manager is in maintenance or a snapshot takes effect. */
export interface MaintenanceSwitch {
  isActive(): boolean;
  /** Stores the state of a heartbeat; returns whether it differs from the state before. */
  learn(state: string): boolean;
}

/** `onOver` runs when maintenance ends: waiting executions may start then. */
export function createMaintenanceSwitch(onOver: () => void): MaintenanceSwitch {
  let isActive = false;
  let known = '';
  return {
    isActive: () => isActive,
    learn(state) {
      const was = isActive;
      isActive = state === 'activated' || state === 'activating' || state === 'restoring';
      if (was && !isActive) onOver();
      const isOther = known !== '' && known !== state;
      known = state;
      return isOther;
    },
  };
}
