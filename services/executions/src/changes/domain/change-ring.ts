import type { ChangeKind, ResourceChange } from '@baton/contracts';

/**
 * A change as a ring keeps it: with the facts that decide who may see it, and `more`, which is sent beside kind, id and
 * operation.
 */
export interface KnownChange {
  kind: ChangeKind;
  id: string;
  tenant: string;
  operation: ResourceChange['operation'];
  createdBy: string;
  visibility: string;
  more: Readonly<Record<string, unknown>>;
}

/** A change as it is sent to one reader. */
export interface TurnedChange {
  position: number;
  change: KnownChange;
}

interface Entry {
  position: number;
  change: KnownChange;
  /** Position at which the resource was created, when the ring knows it: to a reader before that position, the resource is new. */
  madeAt: number | null;
  /** A later change of the same resource has replaced this one. */
  isStale: boolean;
}

const keyOf = ({ tenant, kind, id }: Pick<KnownChange, 'tenant' | 'kind' | 'id'>): string =>
  `${kind} ${tenant} ${id}`;

/**
 * The last changes of one tenant: the latest change of each resource, `capacity` resources at most. A reader is only a position
 * in the ring, so a slow reader costs no memory: a change that leaves the ring before the reader reaches it is lost, and the
 * reader is told so. A position is valid in one epoch: a ring that was renewed knows no older position.
 */
export class ChangeRing {
  #epoch: string;
  #log: Entry[] = [];
  /** Log index of the first entry that is still in the ring. */
  #first = 0;
  #head = 0;
  /** Readers before this position have missed changes. */
  #floor = 0;
  readonly #latest = new Map<string, Entry>();

  constructor(
    private readonly newEpoch: () => string,
    private readonly capacity: number,
  ) {
    this.#epoch = newEpoch();
  }

  /** The position after the newest change. */
  get head(): number {
    return this.#head;
  }

  /** Returns a position as the id of an event. */
  idOf(position: number): string {
    return `${this.#epoch}-${position}`;
  }

  /** Returns the position of an id; null when the ring does not know it any more. */
  positionOf(id: string): number | null {
    const match = /^([0-9a-z]{1,40})-(\d{1,15})$/.exec(id);
    if (match?.[1] !== this.#epoch) return null;
    const position = Number(match[2]);
    return position >= this.#floor && position <= this.#head ? position : null;
  }

  /** Returns the latest change of a resource that the ring holds. */
  latestOf(of: Pick<KnownChange, 'tenant' | 'kind' | 'id'>): KnownChange | null {
    return this.#latest.get(keyOf(of))?.change ?? null;
  }

  push(change: KnownChange): void {
    const key = keyOf(change);
    const before = this.#latest.get(key);
    if (before) before.isStale = true;
    const position = ++this.#head;
    const known = before && before.change.operation !== 'deleted' ? before.madeAt : null;
    const entry: Entry = {
      position,
      change,
      madeAt: change.operation === 'created' ? position : known,
      isStale: false,
    };
    this.#log.push(entry);
    this.#latest.set(key, entry);
    this.#trim();
  }

  /** Drops all changes: every reader has missed something, and no earlier position is known any more. */
  renew(): void {
    this.#epoch = this.newEpoch();
    this.#log = [];
    this.#first = 0;
    this.#floor = ++this.#head;
    this.#latest.clear();
  }

  /**
   * Returns at most `limit` changes after a position for which `fits` holds, and the position up to which all were examined.
   * Null: some changes have left the ring before they were sent.
   */
  after(
    position: number,
    fits: (change: KnownChange) => boolean,
    limit: number,
  ): { changes: TurnedChange[]; position: number } | null {
    if (position < this.#floor) return null;
    const changes: TurnedChange[] = [];
    for (let i = this.#placeBehind(position); i < this.#log.length; i++) {
      const entry = this.#log[i]!;
      if (entry.isStale || !fits(entry.change)) continue;
      changes.push({ position: entry.position, change: asToldBehind(entry, position) });
      if (changes.length === limit) return { changes, position: entry.position };
    }
    return { changes, position: this.#head };
  }

  /** Returns the log index of the first entry after a position; positions rise along the log. */
  #placeBehind(position: number): number {
    let [low, high] = [this.#first, this.#log.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#log[middle]!.position <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #trim(): void {
    while (this.#latest.size > this.capacity) {
      const entry = this.#log[this.#first++]!;
      if (entry.isStale) continue;
      this.#latest.delete(keyOf(entry.change));
      this.#floor = entry.position;
    }
    // The log is compacted when more than half of it is stale.
    if (this.#log.length <= 2 * this.capacity) return;
    this.#log = this.#log.slice(this.#first).filter(({ isStale }) => !isStale);
    this.#first = 0;
  }
}

/** Turns `changed` into `created` for a reader that has not been told yet that the resource was created. */
function asToldBehind({ change, madeAt }: Entry, position: number): KnownChange {
  const isNew = change.operation === 'changed' && madeAt !== null && madeAt > position;
  return isNew ? { ...change, operation: 'created' } : change;
}
