import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { newId, systemClock } from '@baton/kernel';
import { Misses } from './warm-misses';
import type { WarmServer } from './warm-server';

/** What all operations of one server have in common: they see the same folders and modules. */
export interface WarmPlace {
  tenant: string;
  deploymentId: string;
  /** Folder of the plugin's environment; null: a place of scripts, which have no plugin. */
  prefix: string | null;
  /** Folders of the deployment that operations see. */
  folders: readonly string[];
  /** Module of the function; empty for scripts. */
  module: string;
}

/**
 * Servers of Python plugins and scripts, for operations of this worker. A server serves one operation at a time, and only
 * operations of one place.
 */
export interface WarmPython {
  /**
   * Returns a server for the operation, a started one or a new one. Null: the operation needs a process of its own.
   * `soon`: only a started one; where operations of the place come again and again, a server starts meanwhile for those
   * that follow, because a process of its own begins earlier than a server.
   */
  take(
    place: WarmPlace,
    start: () => Promise<WarmServer | null>,
    when?: 'now' | 'soon',
  ): Promise<WarmServer | null>;
  /** Takes the server back after its operation, and ends it when no other may meet it. */
  leave(server: WarmServer): Promise<void>;
  /** Lets operations with functions of this module start their own process from now on. */
  refuse(place: WarmPlace): void;
  /** Ends all servers; later operations start their own processes. */
  close(): Promise<void>;
}

export interface WarmLimits {
  /** Servers at a time, those with an operation included. */
  servers: number;
  /** Memory of one server, and of all that wait for an operation. A larger one serves a single operation. */
  serverBytes: number;
  waitingBytes: number;
  /** Time that a server waits for its next operation. */
  idleMs: number;
}

const MB = 1024 * 1024;
const DEFAULT_LIMITS: WarmLimits = {
  servers: 12,
  serverBytes: 256 * MB,
  waitingBytes: 512 * MB,
  idleMs: 5 * 60_000,
};
/** A server that waits longer may be ended for one that is only likely to be needed. */
const LONG_WAIT_MS = 10_000;
/** Most modules that are known to need a process of their own. */
const MOST_REFUSED = 1_000;

interface Known {
  key: string;
  server: WarmServer;
  /** Set while the server waits: its end, and the time since when it waits. */
  timer: NodeJS.Timeout | null;
  since: number;
}

export function createWarmPython(limits: WarmLimits = DEFAULT_LIMITS): WarmPython {
  const pool = new Pool(limits);
  const refused = refusals();
  const misses = new Misses(limits.idleMs);
  /** The server that starts for later operations. One at a time: operations of now need the processor more. */
  let coming: Promise<void> | null = null;

  const prepare = (place: WarmPlace, key: string, start: () => Promise<WarmServer | null>): void => {
    if (!misses.isFrequent(key) || coming !== null || !pool.canMakeRoom()) return;
    coming = pool
      .startNew(key, start)
      .then(async (server) => {
        if (server) await pool.leave(server);
        else refused.add(place);
      })
      .catch(() => refused.add(place))
      .finally(() => {
        coming = null;
      });
  };
  return {
    take: async (place, start, when = 'now') => {
      if (pool.isClosed || refused.has(place)) return null;
      const key = await keyOf(place);
      if (key === null) return null;
      const waiting = pool.takeWaiting(key);
      if (waiting || when === 'now') return waiting ?? pool.startNew(key, start);
      prepare(place, key, start);
      return null;
    },
    leave: (server) => pool.leave(server),
    refuse: refused.add,
    close: async () => {
      await Promise.all([pool.close(), coming]);
    },
  };
}

/** The servers that exist. */
class Pool {
  isClosed = false;
  /** In the order in which they began to wait. */
  readonly #waiting = new Map<string, Known>();
  readonly #busy = new Map<WarmServer, Known>();
  #starting = 0;

  constructor(readonly limits: WarmLimits) {}

  hasRoom(): boolean {
    return this.#waiting.size + this.#busy.size + this.#starting < this.limits.servers;
  }

  /** Whether there is room, or a server that nobody has needed for a while. */
  canMakeRoom(): boolean {
    const [oldest] = this.#waiting.values();
    return this.hasRoom() || (oldest !== undefined && systemClock.monotonic() - oldest.since > LONG_WAIT_MS);
  }

  takeWaiting(key: string): WarmServer | null {
    for (const [id, known] of this.#waiting) {
      if (known.key !== key) continue;
      this.#waiting.delete(id);
      if (known.timer) clearTimeout(known.timer);
      this.#busy.set(known.server, { ...known, timer: null });
      return known.server;
    }
    return null;
  }

  /** Ends the oldest waiting server for the new one where there is no room. Null: all servers have an operation, or it did not start. */
  async startNew(key: string, start: () => Promise<WarmServer | null>): Promise<WarmServer | null> {
    if (!this.hasRoom()) this.#endOldest();
    if (!this.hasRoom()) return null;
    this.#starting++;
    try {
      const server = await start();
      if (server) this.#busy.set(server, { key, server, timer: null, since: 0 });
      return server;
    } finally {
      this.#starting--;
    }
  }

  async leave(server: WarmServer): Promise<void> {
    const { serverBytes, waitingBytes, idleMs } = this.limits;
    const known = this.#busy.get(server);
    const isKept = !this.isClosed && server.memoryBytes() <= serverBytes && (await server.isReady());
    this.#busy.delete(server);
    if (!known || !isKept || this.isClosed) return server.end();
    const id = newId();
    const timer = setTimeout(() => void this.#end(id, known), idleMs).unref();
    this.#waiting.set(id, { ...known, timer, since: systemClock.monotonic() });
    while (this.#waiting.size > 0 && memoryOf(this.#waiting) > waitingBytes) this.#endOldest();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([...this.#waiting].map(([id, known]) => this.#end(id, known)));
  }

  #endOldest(): void {
    for (const [id, known] of this.#waiting) return void this.#end(id, known);
  }

  async #end(id: string, known: Known): Promise<void> {
    this.#waiting.delete(id);
    if (known.timer) clearTimeout(known.timer);
    await known.server.end();
  }
}

function memoryOf(servers: ReadonlyMap<string, Known>): number {
  return [...servers.values()].reduce((sum, { server }) => sum + server.memoryBytes(), 0);
}

/** Modules that need a process of their own; it forgets them all when they are too many. */
function refusals(): { has(place: WarmPlace): boolean; add(place: WarmPlace): void } {
  const known = new Set<string>();
  return {
    has: (place) => known.has(moduleOf(place)),
    add: (place) => {
      if (known.size >= MOST_REFUSED) known.clear();
      known.add(moduleOf(place));
    },
  };
}

function moduleOf({ tenant, prefix, module }: WarmPlace): string {
  return JSON.stringify([tenant, prefix, module]);
}

/**
 * A server sees the folders that existed at its start: a folder made again under the same path is another place. Null: a
 * folder is missing.
 */
async function keyOf({ tenant, deploymentId, prefix, folders }: WarmPlace): Promise<string | null> {
  try {
    if (prefix !== null) await stat(join(prefix, 'bin/python'));
    const seen = prefix === null ? folders : [prefix, ...folders];
    const found = await Promise.all(seen.map((path) => stat(path)));
    const inodes = found.map(({ dev, ino }) => `${dev}:${ino}`);
    return JSON.stringify([tenant, deploymentId, prefix, ...folders, ...inodes]);
  } catch {
    return null;
  }
}
