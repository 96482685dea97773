/** Whether the manager is in maintenance or a snapshot takes effect, as the last heartbeat said. */
export interface MaintenanceSwitch {
  isActive(): boolean;
  learn(state: string): void;
}

/** `onOver` runs when maintenance ends: what waited may start. */
export function createMaintenanceSwitch(onOver: () => void): MaintenanceSwitch {
  let isActive = false;
  return {
    isActive: () => isActive,
    learn(state) {
      const was = isActive;
      isActive = state === 'activated' || state === 'activating' || state === 'restoring';
      if (was && !isActive) onOver();
    },
  };
}
