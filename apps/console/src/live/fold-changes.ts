/** Merges changes of `/changes/stream`, so that each batch contains a resource only once. */
import { foldedChange } from '@baton/contracts/folded-change';

export interface Change {
  kind: string;
  id: string;
  operation: 'created' | 'changed' | 'deleted';
  version?: number;
  /** Only for executions. */
  status?: string;
  deployment_id?: string | null;
  workflow_id?: string;
  total_operations?: number;
  finished_operations?: number;
}

export type Pending = Map<string, Change>;

const keyOf = ({ kind, id }: Change): string => `${kind} ${id}`;

/** Adds a change to the pending ones, as the last of them. */
export function addChange(pending: Pending, change: Change): void {
  const key = keyOf(change);
  const folded = foldedChange(pending.get(key), change);
  pending.delete(key);
  pending.set(key, folded);
}

export interface Folder {
  add(change: Change): void;
  /** Number of changed resources that are pending. */
  size(): number;
  /** Keeps changes until `release`. */
  hold(): void;
  release(): void;
  clear(): void;
}

/**
 * Creates a folder, which hands merged changes to `hand` at most once per `intervalMs`, the first immediately. `delay` runs a
 * function later and returns a function that cancels it. `onSize` receives the number of pending resources while they are held.
 */
export function createFolder(o: {
  intervalMs: number;
  hand: (changes: Change[]) => void;
  onSize: (waiting: number) => void;
  delay: (ms: number, run: () => void) => () => void;
}): Folder {
  const pending: Pending = new Map();
  let isHeld = false;
  let isCooling = false;
  const handOn = (): void => {
    if (isHeld || isCooling || pending.size === 0) return;
    const changes = [...pending.values()];
    pending.clear();
    isCooling = true;
    o.delay(o.intervalMs, () => {
      isCooling = false;
      handOn();
    });
    o.hand(changes);
  };
  return {
    add(change) {
      addChange(pending, change);
      if (isHeld) o.onSize(pending.size);
      else handOn();
    },
    size: () => pending.size,
    hold() {
      isHeld = true;
    },
    release() {
      isHeld = false;
      o.onSize(0);
      handOn();
    },
    clear() {
      pending.clear();
      o.onSize(0);
    },
  };
}
