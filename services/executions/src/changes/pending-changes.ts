import { foldedChange, type ResourceChange } from '@baton/contracts';

/** The most executions and changes that wait for the next read; beyond it, readers are told that they have missed changes. */
const MAX_PENDING = 20_000;

/** The changes received since the last read, each resource once. */
export interface Heard {
  /** Execution -> whether states of its node instances were applied. */
  moved: ReadonlyMap<string, boolean>;
  /** Tenant -> changes. */
  told: ReadonlyMap<string, readonly ResourceChange[]>;
}

/** Gathers the changes received between two reads. */
export function createPendingChanges() {
  let moved = new Map<string, boolean>();
  let told = new Map<string, Map<string, ResourceChange>>();
  let count = 0;
  return {
    isFull: () => moved.size + count > MAX_PENDING,
    isEmpty: () => moved.size + count === 0,
    addMoved(executionId: string, hasStates: boolean): void {
      moved.set(executionId, hasStates || moved.get(executionId) === true);
    },
    add(tenant: string, change: ResourceChange): void {
      const ofTenant = told.get(tenant) ?? new Map<string, ResourceChange>();
      told.set(tenant, ofTenant);
      const key = `${change.kind} ${change.id}`;
      const before = ofTenant.get(key);
      if (!before) count++;
      ofTenant.set(key, foldedChange(before, change));
    },
    take(): Heard {
      const heard = {
        moved,
        told: new Map([...told].map(([tenant, changes]) => [tenant, [...changes.values()]])),
      };
      moved = new Map();
      told = new Map();
      count = 0;
      return heard;
    },
  };
}
export type PendingChanges = ReturnType<typeof createPendingChanges>;
