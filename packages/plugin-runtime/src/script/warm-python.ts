import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '@baton/kernel';
import type { WarmServer } from './warm-server';

/** What all operations of one server have in common: they see the same folders and modules. */
export interface WarmPlace {
  tenant: string;
  deploymentId: string;
  /** Folder of the plugin's environment. */
  prefix: string;
  /** Folders of the deployment that operations see. */
  folders: readonly string[];
  /** Module of the function. */
  module: string;
}

/**
 * Servers of Python plugins, for operations of this worker. A server serves one operation at a time, and only operations
 * of one place.
 */
export interface WarmPython {
  /** Returns a server for the operation, a started one or a new one. Null: the operation needs a process of its own. */
  take(place: WarmPlace, start: () => Promise<WarmServer | null>): Promise<WarmServer | null>;
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
/** Most modules that are known to need a process of their own. */
const MOST_REFUSED = 1_000;

interface Known {
  key: string;
  server: WarmServer;
  /** Set while the server waits. */
  timer: NodeJS.Timeout | null;
}

export function createWarmPython(limits: WarmLimits = DEFAULT_LIMITS): WarmPython {
  /** In the order in which they began to wait. */
  const waiting = new Map<string, Known>();
  const busy = new Map<WarmServer, Known>();
  const refused = refusals();
  let starting = 0;
  let isClosed = false;

  const end = async (id: string, known: Known): Promise<void> => {
    waiting.delete(id);
    if (known.timer) clearTimeout(known.timer);
    await known.server.end();
  };
  const endOldest = (): void => {
    for (const [id, known] of waiting) return void end(id, known);
  };
  const startNew = async (
    key: string,
    start: () => Promise<WarmServer | null>,
  ): Promise<WarmServer | null> => {
    if (waiting.size + busy.size + starting >= limits.servers) endOldest();
    if (waiting.size + busy.size + starting >= limits.servers) return null;
    starting++;
    try {
      const server = await start();
      if (server) busy.set(server, { key, server, timer: null });
      return server;
    } finally {
      starting--;
    }
  };
  return {
    take: async (place, start) => {
      if (isClosed || refused.has(place)) return null;
      const key = await keyOf(place);
      if (key === null) return null;
      for (const [id, known] of waiting) {
        if (known.key !== key) continue;
        waiting.delete(id);
        if (known.timer) clearTimeout(known.timer);
        busy.set(known.server, { ...known, timer: null });
        return known.server;
      }
      return startNew(key, start);
    },
    leave: async (server) => {
      const known = busy.get(server);
      const isKept = !isClosed && server.memoryBytes() <= limits.serverBytes && (await server.isReady());
      busy.delete(server);
      if (!known || !isKept || isClosed) return server.end();
      const id = newId();
      const timer = setTimeout(() => void end(id, known), limits.idleMs).unref();
      waiting.set(id, { ...known, timer });
      while (waiting.size > 0 && memoryOf(waiting) > limits.waitingBytes) endOldest();
    },
    refuse: refused.add,
    close: async () => {
      isClosed = true;
      await Promise.all([...waiting].map(([id, known]) => end(id, known)));
    },
  };
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
    await stat(join(prefix, 'bin/python'));
    const found = await Promise.all([prefix, ...folders].map((path) => stat(path)));
    const inodes = found.map(({ dev, ino }) => `${dev}:${ino}`);
    return JSON.stringify([tenant, deploymentId, prefix, ...folders, ...inodes]);
  } catch {
    return null;
  }
}
