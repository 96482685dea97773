import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from './free-port';
import { serverProcess } from './server-process';

/** A server of the test's own that it may stop, kill and start again; its content stays. */
export interface RestartableServer {
  url: string;
  start(): Promise<void>;
  /** Like a power cut: no goodbye to clients. */
  kill(): Promise<void>;
  /** Connections break; what was confirmed is kept. */
  restart(): Promise<void>;
  /** Ends it and removes its files. */
  close(): Promise<void>;
}

/** Paths of PEM files that a server shows; plain connections are refused then. */
export interface ServerCertificate {
  ca: string;
  cert: string;
  key: string;
}

/** A private PostgreSQL on a free port, started. Takes about a second. With `tls` it lets nobody in without it. */
export async function restartablePostgres(tls?: ServerCertificate): Promise<RestartableServer> {
  const bin = findBinaries();
  const root = mkdtempSync(join(tmpdir(), 'baton-test-pg-'));
  const port = await freePort();
  // The server refuses to run as root; in a user namespace it does not know.
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
  // This is about the server being up; whom it is trusted as is the business of whoever connects.
  const url = tls ? `${plain}?sslmode=no-verify` : plain;
  const server = serverProcess({ command, args, isReady: () => answers(url), startTimeoutMs: 15_000 });
  await server.start();
  const kill = (): Promise<void> => server.stop('SIGQUIT');
  return {
    url,
    start: server.start,
    kill,
    restart: async () => {
      await kill();
      await server.start();
    },
    close: async () => {
      await kill();
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
