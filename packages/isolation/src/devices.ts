import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { newId } from '@baton/kernel';
import { findProgram } from './probe';

/** Major and minor number of the devices that every program expects. */
const DEVICES = {
  null: [1, 3],
  zero: [1, 5],
  full: [1, 7],
  random: [1, 8],
  urandom: [1, 9],
  tty: [5, 0],
  ptmx: [5, 2],
} as const;
const LINKS = {
  fd: '/proc/self/fd',
  stdin: '/proc/self/fd/0',
  stdout: '/proc/self/fd/1',
  stderr: '/proc/self/fd/2',
  // Shared memory of an operation counts as its files.
  shm: '/tmp',
};

/**
 * Arguments of bwrap that show /dev. bwrap's own `--dev` mounts each device separately, which costs 1.1 ms per
 * operation; a folder of devices is one mount. Only root can make such a folder, and only where the file system
 * supports devices.
 */
export function deviceMounts(workRoot: string, isRoot: boolean, path: string): string[] {
  const folder = isRoot ? deviceFolder(workRoot, path) : null;
  if (folder === null) return ['--dev', '/dev'];
  return ['--dev-bind', folder, '/dev', '--dev-bind-try', '/dev/pts', '/dev/pts'];
}

/** One folder for all workers that share the work root; it appears whole by a rename. Null: it cannot be made here. */
function deviceFolder(workRoot: string, path: string): string | null {
  const folder = join(workRoot, 'dev');
  const fresh = join(workRoot, `dev.${newId()}`);
  try {
    if (!existsSync(folder)) {
      makeDevices(fresh, path);
      renameSync(fresh, folder);
    }
  } catch {
    // Another worker was faster, or devices cannot be made here; the check below decides.
    rmSync(fresh, { recursive: true, force: true });
  }
  return isUsable(folder) ? folder : null;
}

/** @throws Error where devices cannot be made */
function makeDevices(folder: string, path: string): void {
  const mknod = findProgram('mknod', path);
  if (mknod === null) throw new Error('there is no mknod');
  mkdirSync(folder, { mode: 0o755 });
  for (const [name, [major, minor]] of Object.entries(DEVICES)) {
    const made = spawnSync(mknod, ['-m', '666', join(folder, name), 'c', String(major), String(minor)]);
    if (made.status !== 0) throw new Error(made.stderr?.toString() ?? 'mknod failed');
  }
  for (const [name, target] of Object.entries(LINKS)) symlinkSync(target, join(folder, name));
  mkdirSync(join(folder, 'pts'), { mode: 0o755 });
  chmodSync(folder, 0o755);
}

/** Whether devices work here. A file system mounted without devices has the node, but refuses to open it. */
function isUsable(folder: string): boolean {
  try {
    const opened = openSync(join(folder, 'null'), 'w');
    const isDevice = fstatSync(opened).isCharacterDevice();
    closeSync(opened);
    return isDevice;
  } catch {
    return false;
  }
}
