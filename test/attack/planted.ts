/** Targets of hostile operations, planted so that an operation without isolation can reach them. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import type { Rig } from './row';

export interface Planted {
  /** A text in planted files and environments. */
  mark: string;
  /** Files of the manager, and of another deployment on the worker. */
  files: string[];
  /** Folders that the manager's account may write to, but no operation. */
  places: string[];
  /** Starts a process of the manager's account, with the mark in its environment. */
  victim(): ChildProcess;
  /** host:port of a service on the manager's machine that greets with the mark. */
  service: { host: string; port: number };
  /** A service like `service` at a link-local address; null when this machine cannot have such an address. */
  metadata: { host: string; port: number } | null;
  remove(): void;
}

/** An address like the metadata address of clouds; derived from the process id, because other tests may run at the same time. */
const linkLocal = (): string => `169.254.77.${1 + (process.pid % 250)}`;

async function greeting(host: string, mark: string): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.end(`${mark}\n`);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, resolve);
  });
  return server;
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** Adds the address to the loopback interface, or removes it. */
function addAddress(host: string, verb: 'add' | 'del'): boolean {
  try {
    execFileSync('ip', ['address', verb, `${host}/32`, 'dev', 'lo'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export async function plant({ fleet, mode, account, workDir }: Rig): Promise<Planted> {
  const mark = `planted-${process.pid}-${mode.replace(' ', '-')}`;
  const files = [
    join(fleet.dir, mode === 'services' ? 'blobs' : 'home', 'planted'),
    join(workDir, 'copies/1/other_tenant/deployment/planted'),
  ];
  for (const file of files) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${mark}\n`, { mode: 0o600 });
    if (account) chownSync(file, account.uid, account.gid);
  }
  const victims: ChildProcess[] = [];
  const service = await greeting('127.0.0.1', mark);
  const host = linkLocal();
  const metadata = addAddress(host, 'add') ? await greeting(host, mark) : null;
  return {
    mark,
    files,
    places: ['/', '/usr', '/etc', '/var', '/tmp', dirname(files[0]!)],
    victim: () => {
      const env = { BATON_INTERNAL_KEY: mark };
      const victim = spawn('/bin/sleep', ['600'], { env, cwd: '/', stdio: 'ignore', ...account });
      victims.push(victim);
      return victim;
    },
    service: { host: '127.0.0.1', port: portOf(service) },
    metadata: metadata && { host, port: portOf(metadata) },
    remove: () => {
      for (const victim of victims) victim.kill('SIGKILL');
      service.close();
      metadata?.close();
      if (metadata) addAddress(host, 'del');
      for (const file of files) rmSync(file, { force: true });
    },
  };
}
