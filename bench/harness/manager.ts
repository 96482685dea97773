import { join } from 'node:path';
import type { Client } from '@baton/client';
import { randomSuffix } from '@baton/kernel';
import { testUrls, withDatabase } from '@baton/testkit';
import pg from 'pg';
import { type Fleet, type Mode, startFleet } from '../../test/harness/fleet';
import { adminClient, call, upload } from '../../test/harness/session';
import { archive, type Shape } from './blueprints';
import { benchRoot } from './child';
import { childrenOf } from './processes';

/** A manager under test. Its database is on the same server as the baselines. */
export interface Manager {
  fleet: Fleet;
  client: Client;
  databaseUrl: string;
  /** For reading data of the engine: when executions began and ended. */
  pool: pg.Pool;
  /** Process ids by name; workers of the standalone are `worker-N`. */
  pids(): Map<string, number>;
  stop(): Promise<void>;
}

export interface ManagerOptions {
  mode: Mode;
  workers: number;
  env?: Record<string, string>;
  /** An existing database, which is kept; default: a new one. */
  databaseUrl?: string;
  /** Address by which hosts of test/hosts reach it. */
  listen?: string;
  /** Standalone with its own embedded PostgreSQL instead of the shared server. */
  isEmbedded?: boolean;
}

/** Pending clean-up functions, newest last: an interrupted bench leaves neither processes nor databases behind. */
const open = new Set<() => Promise<void>>();

/** Returns a function that runs `undo` once, either by its owner or at the end of the bench. */
function undoOnce(undo: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | null = null;
  const once = (): Promise<void> => {
    open.delete(once);
    return (done ??= undo());
  };
  open.add(once);
  return once;
}

/** Ends everything that the bench has started. */
export async function closeAll(): Promise<void> {
  for (const undo of [...open].reverse()) await undo().catch(() => undefined);
}

export const serverUrl = (): string => testUrls.postgres();

export async function startManager(o: ManagerOptions): Promise<Manager> {
  const needsDatabase = o.mode === 'standalone' && !o.isEmbedded && o.databaseUrl === undefined;
  const database = needsDatabase ? await createDatabase() : null;
  const env: Record<string, string> = {
    BATON_LOG_LEVEL: 'warn',
    BATON_WORKER_HANDLERS: join(benchRoot, 'handlers/noop.js'),
    ...o.env,
  };
  // Registered for closeAll immediately: an interrupted start is awaited and undone.
  const given = database?.url ?? o.databaseUrl;
  const starting = startFleet({
    mode: o.mode,
    workers: o.workers,
    env,
    ...(o.listen === undefined ? {} : { listen: o.listen }),
    ...(given === undefined ? {} : { databaseUrl: given }),
  });
  let pool: pg.Pool | null = null;
  const stop = undoOnce(async () => {
    await pool?.end();
    await starting.then((one) => one.stop()).catch(() => undefined);
    await database?.drop();
  });
  const fleet = await starting.catch(async (error) => {
    await stop();
    throw error;
  });
  const databaseUrl = given ?? fleet.databaseUrl;
  const reading = (pool = new pg.Pool({ connectionString: databaseUrl || serverUrl(), max: 2 }));
  return {
    fleet,
    client: adminClient(fleet),
    databaseUrl,
    pool: reading,
    pids: () => pidsOf(fleet),
    stop,
  };
}

function pidsOf(fleet: Fleet): Map<string, number> {
  const pids = new Map<string, number>();
  for (const [name, one] of fleet.processes) {
    const pid = one.pid();
    if (pid === null) continue;
    pids.set(name, pid);
    if (fleet.mode === 'standalone')
      for (const [i, child] of childrenOf(pid).entries()) pids.set(`child-${i + 1}`, child);
  }
  return pids;
}

/** Creates an empty database on the server of the tests. */
export async function createDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `baton_bench_${process.pid}_${randomSuffix(6)}`;
  await onServer(`create database "${name}"`);
  return {
    url: withDatabase(serverUrl(), name),
    drop: undoOnce(() => onServer(`drop database if exists "${name}" with (force)`)),
  };
}

/** Creates a database with this name, which is kept. Returns false if it exists already. */
export async function createNamed(name: string): Promise<boolean> {
  try {
    await onServer(`create database "${name.replaceAll('"', '""')}"`);
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === '42P04') return false;
    throw error;
  }
}

async function onServer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl() });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

export const databaseName = (url: string): string => new URL(url).pathname.slice(1);

export async function putBlueprint(manager: Manager, shape: Shape): Promise<void> {
  await upload(manager.client, shape.name, archive(shape));
}

export async function putDeployment(manager: Manager, id: string, blueprint: string): Promise<void> {
  await call(manager.client, 'createDeployment', { id }, { blueprint_id: blueprint });
}

/** Runs `work` for 0..count-1, at most `atOnce` at a time. */
export async function inParallel(
  count: number,
  atOnce: number,
  work: (i: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, lane));
}
