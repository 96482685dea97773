import { spawnSync } from 'node:child_process';

/** Set in a process that is root of its own namespace. */
const INSIDE = 'BATON_TEST_IN_NAMESPACE';

export interface SmallDisk {
  /** Remounts the disk read-write or read-only. */
  remount(mode: 'rw' | 'ro'): void;
  unmount(): void;
}

function run(command: string, args: string[]): void {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? stderr}`);
}

/**
 * Mounts a file system of `bytes` in memory on the empty folder `path`; only where this process is root (`onSmallDisks`).
 * @throws Error with the message of `mount`: a test that cannot have its disk fails, it is not skipped.
 */
export function mountSmallDisk(path: string, bytes: number): SmallDisk {
  run('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=0777`, 'baton-test', path]);
  return {
    remount: (mode) => run('mount', ['-o', `remount,${mode},size=${bytes}`, path]),
    unmount: () => run('umount', ['-l', path]),
  };
}

/**
 * Defines the tests of `file` that mount file systems. For a user other than root they run in a separate test runner, in a
 * namespace in which the user is root.
 */
export function onSmallDisks(file: string, define: () => void): void {
  if (process.geteuid?.() === 0 || process.env[INSIDE] === '1') return define();
  test('in a namespace of their own', () => {
    const jest = [require.resolve('jest/bin/jest'), '--runTestsByPath', file];
    const { status, stderr } = spawnSync('unshare', ['-Urm', process.execPath, ...jest], {
      encoding: 'utf8',
      env: { ...process.env, [INSIDE]: '1' },
    });
    expect(status === 0 ? '' : stderr).toBe('');
  }, 120_000);
}
