import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from './free-port';
import { serverProcess } from './server-process';
import { mountSmallDisk } from './small-disk';

/** A private server of a test, which may stop, kill and start it again; its content stays. */
export interface RestartableServer {
  url: string;
  start(): Promise<void>;
  /** Kills the server, like a power cut: without notice to clients. */
  kill(): Promise<void>;
  /** Kills and starts the server: connections break; confirmed data is kept. */
  restart(): Promise<void>;
  /** Ends the server and removes its files. */
  close(): Promise<void>;
}

/** Paths of the PEM files of a server; it then refuses connections without TLS. */
export interface ServerCertificate {
  ca: string;
  cert: string;
  key: string;
}

export interface RestartablePostgres extends RestartableServer {
  /** Folder of all its files. */
  folder: string;
  /** Starts the server again if it ended by itself. */
  revive(): Promise<void>;
}

/**
 * Starts a private PostgreSQL on a free port, in about a second. With `tls` it refuses connections without TLS. `diskBytes`: on a
 * separate disk of that size, which needs root; `onMount` gets the folder before anything is mounted.
 */
export async function restartablePostgres(
  o: { tls?: ServerCertificate; diskBytes?: number; onMount?: (folder: string) => void } = {},
): Promise<RestartablePostgres> {
  const { tls } = o;
  const bin = findBinaries();
  const root = mkdtempSync(join(tmpdir(), 'baton-test-pg-'));
  if (o.diskBytes) o.onMount?.(root);
  const disk = o.diskBytes ? mountSmallDisk(root, o.diskBytes) : null;
  const port = await freePort();
  // The server refuses to run as root; in a user namespace it does not see that it does.
  const prefix = process.getuid?.() === 0 ? ['unshare', '-U'] : [];
  const folder = join(root, 'data');
  const [initdb = '', ...initArgs] = [
    ...prefix,
    join(bin, 'initdb'),
    '-D',
    folder,
    '-U',
    'postgres',
    '-A',
    'trust',
    '-E',
    'UTF8',
    '-N',
  ];
  execFileSync(initdb, initArgs, { stdio: 'pipe' });
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    max_connections: '60',
    ...(tls && { ssl: 'on', ssl_cert_file: tls.cert, ssl_key_file: tls.key }),
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const [command = '', ...args] = [...prefix, join(bin, 'postgres'), '-D', folder, ...flags];
  if (tls) writeFileSync(join(folder, 'pg_hba.conf'), 'hostssl all all all trust\n');
  const plain = `postgres://postgres@127.0.0.1:${port}/postgres`;
  // This URL only checks whether the server is up; its clients decide which authorities they trust.
  const url = tls ? `${plain}?sslmode=no-verify` : plain;
  const server = serverProcess({ command, args, isReady: () => answers(url), startTimeoutMs: 15_000 });
  await server.start();
  const kill = (): Promise<void> => server.stop('SIGQUIT');
  return {
    url,
    folder: root,
    revive: server.revive,
    start: server.start,
    kill,
    restart: async () => {
      await kill();
      await server.start();
    },
    close: async () => {
      await kill();
      disk?.unmount();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function findBinaries(): string {
  const base = '/usr/lib/postgresql';
  const versions = existsSync(base) ? readdirSync(base).sort((a, b) => Number(b) - Number(a)) : [];
  const found = versions
    .map((version) => join(base, version, 'bin'))
    .find((path) => existsSync(join(path, 'initdb')));
  if (!found) throw new Error(`no PostgreSQL server below ${base}`);
  return found;
}

async function answers(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
  await client.connect();
  await client.end();
}
