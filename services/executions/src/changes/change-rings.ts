import { randomBytes } from 'node:crypto';
import { AppError } from '@baton/kernel';
import { ChangeRing, type KnownChange } from './domain/change-ring';

/** The most resources whose latest changes the ring of a tenant holds: some 2 MB. */
const CAPACITY = 5_000;
/** How long a ring is kept after its last reader: a reader that reconnects within this time continues without a gap. */
const LINGER_MS = 120_000;
const MAX_RINGS = 500;
/** The most readers of this replica. The gateway limits streams as well (room.ts), but counts streams of all kinds together. */
const MAX_READERS = 2_000;
const MAX_READERS_OF_USER = 50;

/** The ring of a tenant, with its wake-up for readers. */
export interface TenantRing {
  tenant: string;
  ring: ChangeRing;
  /** ISO time of the database: a resource created later is new to all readers. Null: not known yet. */
  since: string | null;
  /** Resolves when there may be a new change, or when `signal` aborts. */
  next(signal: AbortSignal): Promise<void>;
}

interface Kept extends TenantRing {
  readers: number;
  wakes: Set<() => void>;
  end: NodeJS.Timeout | null;
}

/** Creates the store of rings: one for each tenant that has readers on this replica, or had them until a moment ago. */
export function createChangeRings(o: { capacity?: number; lingerMs?: number } = {}) {
  const rings = new Map<string, Kept>();
  const readers = readerCounts();
  const drop = (kept: Kept): void => {
    if (kept.end) clearTimeout(kept.end);
    rings.delete(kept.tenant);
  };
  const ringOf = (tenant: string): Kept => {
    const known = rings.get(tenant);
    if (known) return known;
    if (rings.size >= MAX_RINGS) {
      const idle = [...rings.values()].find((one) => one.readers === 0);
      if (!idle) throw tooMany('Streams of changes are open in too many tenants at once', MAX_RINGS);
      drop(idle);
    }
    const made = newRing(tenant, o.capacity ?? CAPACITY);
    rings.set(tenant, made);
    return made;
  };
  return {
    isListening: () => rings.size > 0,
    tenants: () => [...rings.keys()],
    /** Adds a reader to the ring of the tenant. The caller must call `close` once. @throws AppError too_many_requests_error */
    open(tenant: string, username: string): { at: TenantRing; close(): void } {
      readers.requireRoom(username);
      const kept = ringOf(tenant);
      if (kept.end) clearTimeout(kept.end);
      kept.end = null;
      kept.readers++;
      readers.add(username);
      return {
        at: kept,
        close() {
          readers.remove(username);
          if (--kept.readers > 0) return;
          kept.end = setTimeout(
            () => rings.get(tenant) === kept && drop(kept),
            o.lingerMs ?? LINGER_MS,
          ).unref();
        },
      };
    },
    /** Returns the rings whose readers may see a resource: the ring of its tenant; for a global resource, all rings. */
    thatShow({ tenant, visibility }: Pick<KnownChange, 'tenant' | 'visibility'>): TenantRing[] {
      if (visibility === 'global') return [...rings.values()];
      const own = rings.get(tenant);
      return own ? [own] : [];
    },
    /** Marks that readers of the tenant, or of all tenants when it is empty, have missed changes. */
    lose(tenant: string): void {
      for (const kept of rings.values()) if (tenant === '' || kept.tenant === tenant) kept.ring.renew();
    },
    /** Wakes readers that wait. */
    wake(): void {
      for (const { wakes } of rings.values()) for (const wake of [...wakes]) wake();
    },
    stop(): void {
      for (const kept of [...rings.values()]) drop(kept);
    },
  };
}
export type ChangeRings = ReturnType<typeof createChangeRings>;

/** Counts the readers of all tenants, and of each user. */
function readerCounts() {
  const users = new Map<string, number>();
  let all = 0;
  return {
    /** @throws AppError too_many_requests_error. */
    requireRoom(username: string): void {
      if ((users.get(username) ?? 0) >= MAX_READERS_OF_USER)
        throw tooMany(`User \`${username}\` has too many streams of changes at once`, MAX_READERS_OF_USER);
      if (all >= MAX_READERS) throw tooMany('Too many streams of changes at once', MAX_READERS);
    },
    add(username: string): void {
      all++;
      users.set(username, (users.get(username) ?? 0) + 1);
    },
    remove(username: string): void {
      all--;
      const left = users.get(username)! - 1;
      if (left === 0) users.delete(username);
      else users.set(username, left);
    },
  };
}

function newRing(tenant: string, capacity: number): Kept {
  const wakes = new Set<() => void>();
  return {
    tenant,
    ring: new ChangeRing(() => randomBytes(9).toString('hex'), capacity),
    since: null,
    readers: 0,
    end: null,
    wakes,
    next: (signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const done = () => {
          signal.removeEventListener('abort', done);
          wakes.delete(done);
          resolve();
        };
        wakes.add(done);
        signal.addEventListener('abort', done, { once: true });
      }),
  };
}

const tooMany = (message: string, limit: number): AppError =>
  new AppError('too_many_requests_error', message, { limit });
