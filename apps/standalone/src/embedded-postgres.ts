import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { backoffMs, type Log, silentLog, systemClock } from '@baton/kernel';
import pg from 'pg';
import { ensurePostgresFolder, POSTGRES_USER } from './postgres-folder';
import { endLeftOver } from './postgres-leftovers';
import { asOwnChild, postgresPrograms } from './postgres-programs';
import { StartRefused } from './refusal';

/**
 * PostgreSQL from the binaries of a registry package, as a child of this process: data below the standalone's home, only on
 * loopback, a random port and a generated password. The server runs as long as this process: a server that ends is started again
 * with the same port and data, with growing delays while it keeps ending.
 */
export interface EmbeddedPostgres {
  /** Superuser URL of database `baton`. */
  url: string;
  /** @throws Error with the state of the server, while it does not serve. */
  check(): void;
  stop(): Promise<void>;
  /** Ends the server without waiting: it recovers at the next start. */
  endNow(): void;
}

export interface EmbeddedPostgresOptions {
  dataDir: string;
  log?: Log;
  /** Aborts the start; what was started is ended. */
  signal?: AbortSignal;
}

/** Longest start without an answer of the server; the start of a server that reports recovery is not limited. */
const START_LIMIT_MS = 30_000;
/** Limit of a fast shutdown, whose checkpoint writes all changed memory; then comes an immediate shutdown. */
const STOP_LIMIT_MS = 6_000;
const RESTARTS = { firstMs: 100, maxMs: 10_000, factor: 2, jitter: 0.2 };
/** After this time of service, the delay of restarts begins at its first value again. */
const STABLE_MS = 60_000;
/** SQLSTATE cannot_connect_now: the server starts, recovers or stops. */
const NOT_YET = '57P03';

/** Small on purpose: all processes together shall stay below 350 MB; durability is unchanged. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  max_connections: '100',
  shared_buffers: '48MB',
  jit: 'off',
  max_wal_size: '512MB',
  checkpoint_timeout: '15min',
  autovacuum_naptime: '30s',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_parallel_workers: '2',
  unix_socket_directories: '',
  log_timezone: 'UTC',
  timezone: 'UTC',
};

interface Server {
  command: [string, ...string[]];
  dataDir: string;
  logFile: string;
  url: string;
}

/**
 * Starts the server. Only the owner of the home may call it: it ends a server that an earlier start left running on the data.
 * @throws StartRefused with the last messages of the server when it does not start.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { dataDir, signal, log = silentLog } = options;
  const bin = postgresPrograms();
  await endLeftOver(dataDir);
  const password = await ensurePostgresFolder(bin, dataDir, signal);
  const port = await freePort();
  const settings = Object.entries({ ...SETTINGS, port: String(port) }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const urlOf = (database: string) => `postgres://${POSTGRES_USER}:${password}@127.0.0.1:${port}/${database}`;
  const server: Server = {
    command: asOwnChild([join(bin, 'postgres'), '-D', dataDir, ...settings]),
    dataDir,
    logFile: `${dataDir}.log`,
    url: urlOf('postgres'),
  };
  const child = launch(server);
  try {
    await untilReady(child, server, signal);
    await ensureDatabase(server.url);
    signal?.throwIfAborted();
  } catch (error) {
    await end(child);
    throw error;
  }
  return { url: urlOf('baton'), ...supervise(server, child, log) };
}

/** Keeps the server running until `stop`. */
function supervise(server: Server, first: ChildProcess, log: Log): Omit<EmbeddedPostgres, 'url'> {
  const stopping = new AbortController();
  let child = first;
  let problem: string | null = null;
  let deaths = 0;
  let servingSince = systemClock.monotonic();

  const restart = async (): Promise<void> => {
    const delayMs = backoffMs(deaths, RESTARTS);
    await pause(delayMs, stopping.signal);
    if (stopping.signal.aborted) return;
    await endLeftOver(server.dataDir);
    if (stopping.signal.aborted) return;
    child = launch(server);
    await untilReady(child, server, stopping.signal);
  };
  const watch = async (): Promise<void> => {
    for (;;) {
      const how = await endOf(child);
      if (stopping.signal.aborted) return;
      deaths = systemClock.monotonic() - servingSince > STABLE_MS ? 1 : deaths + 1;
      problem = `the embedded PostgreSQL ended with ${how} and is started again`;
      log.error({ how, deaths, log: server.logFile }, 'the embedded PostgreSQL ended; it is started again');
      try {
        await restart();
        if (stopping.signal.aborted) return;
        problem = null;
        servingSince = systemClock.monotonic();
        log.warn({ deaths }, 'the embedded PostgreSQL serves again');
      } catch (error) {
        if (stopping.signal.aborted) return;
        problem = `the embedded PostgreSQL does not start again: ${(error as Error).message}`;
        child.kill('SIGQUIT');
      }
    }
  };
  const watching = watch();
  return {
    check: () => {
      if (problem !== null) throw new Error(problem);
    },
    stop: async () => {
      stopping.abort();
      await end(child);
      await watching;
    },
    endNow: () => {
      stopping.abort();
      child.kill('SIGQUIT');
    },
  };
}

function launch({ command: [program, ...args], logFile }: Server): ChildProcess {
  const log = openSync(logFile, 'a', 0o600);
  try {
    // In a separate process group: Ctrl-C of a terminal is for the manager, which ends the server last.
    const child = spawn(program, args, { stdio: ['ignore', log, log], detached: true });
    child.on('error', () => undefined);
    return child;
  } finally {
    closeSync(log);
  }
}

const hasEnded = (child: ChildProcess): boolean =>
  child.pid === undefined || child.exitCode !== null || child.signalCode !== null;

function endOf(child: ChildProcess): Promise<string> {
  const how = () => child.signalCode ?? `status ${child.exitCode}`;
  if (hasEnded(child)) return Promise.resolve(how());
  return new Promise((resolve) => child.once('exit', () => resolve(how())));
}

/** Fast shutdown: connections are ended, all data is written; when that takes too long, the next start recovers. */
async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  child.kill('SIGINT');
  const late = setTimeout(() => child.kill('SIGQUIT'), STOP_LIMIT_MS);
  await endOf(child);
  clearTimeout(late);
}

/** Waits until the server serves. @throws StartRefused with the last messages of the server; the reason of `signal`. */
async function untilReady(child: ChildProcess, server: Server, signal?: AbortSignal): Promise<void> {
  const said = lengthOf(server.logFile);
  let until = systemClock.monotonic() + START_LIMIT_MS;
  for (;;) {
    signal?.throwIfAborted();
    if (hasEnded(child)) throw notStarted(await endOf(child), lastWords(server.logFile, said));
    const state = await tryConnect(server.url);
    if (state === 'serves') return;
    if (state === 'not yet') until = systemClock.monotonic() + START_LIMIT_MS;
    else if (systemClock.monotonic() > until)
      throw notStarted(`no answer within ${START_LIMIT_MS / 1_000} s`, lastWords(server.logFile, said));
    await pause(20, signal);
  }
}

function notStarted(how: string, words: string): StartRefused {
  if (/No space left on device/i.test(words))
    return new StartRefused(`The embedded PostgreSQL does not start: the disk is full (${words}).`, 1);
  if (/incompatible with server|not compatible with this version/i.test(words))
    return new StartRefused(
      `The data in the home belong to another release of PostgreSQL than this program brings: ${words}. ` +
        'Start the release that made them.',
      78,
    );
  return new StartRefused(`The embedded PostgreSQL did not start (${how}): ${words || 'it said nothing'}`, 1);
}

async function tryConnect(url: string): Promise<'serves' | 'not yet' | 'silent'> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return 'serves';
  } catch (error) {
    return (error as { code?: string }).code === NOT_YET ? 'not yet' : 'silent';
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function ensureDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rowCount } = await client.query("select 1 from pg_database where datname = 'baton'");
    if (rowCount === 0) await client.query('create database baton');
  } finally {
    await client.end();
  }
}

const lengthOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** Returns the error messages in the log after its first `from` bytes, at most three, joined in one line. */
function lastWords(file: string, from: number): string {
  if (!existsSync(file)) return '';
  const lines = readFileSync(file).subarray(from).toString('utf8').split('\n').filter(Boolean);
  const trouble = lines.filter((line) => /FATAL|PANIC|ERROR|DETAIL|HINT/.test(line));
  return (trouble.length > 0 ? trouble : lines)
    .slice(-3)
    .map((line) => line.replace(/^[\d: .-]+UTC \[\d+\] /, '').trim())
    .join('; ');
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

/** Waits `ms`, or until `signal` aborts. */
function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    if (signal?.aborted) done();
    else signal?.addEventListener('abort', done, { once: true });
  });
}
