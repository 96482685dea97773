import { spawnSync } from 'node:child_process';
import { accessSync, chmodSync, chownSync, closeSync, constants, mkdirSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { newId } from '@baton/kernel';
import { quoted } from './limits';
import type { Command, Isolation, IsolationSettings, Launch } from './port';
import { openDescriptors } from './start';

const PROBE_MS = 10_000;
const PROBE_TENANT = 'default_tenant';

export interface ProbeEnd {
  isFine: boolean;
  stdout: string;
  /** The error, in the words of the tool. */
  reason: string;
}

/** Returns the path of a program; null: not found. */
export function findProgram(name: string, path: string): string | null {
  for (const folder of path.split(delimiter)) {
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Try the next folder.
    }
  }
  return null;
}

/** Runs a command as an operation runs, in a new folder that is removed afterwards. */
export function runInside(
  isolation: Isolation,
  settings: IsolationSettings,
  command: (folder: string) => Omit<Command, 'cwd' | 'env'>,
  tenant = PROBE_TENANT,
): ProbeEnd {
  const folder = join(settings.workRoot, 'runs', `probe-${newId()}`);
  const tmp = join(folder, 'tmp');
  const account = isolation.accountOf(tenant);
  const files: number[] = [];
  let group: Launch['group'] = null;
  try {
    mkdirSync(join(settings.workRoot, 'runs'), { recursive: true, mode: 0o711 });
    mkdirSync(folder, { mode: 0o711 });
    chmodSync(folder, 0o711);
    mkdirSync(tmp, { mode: 0o700 });
    if (account) chownSync(tmp, account.uid, account.gid);
    const launch = isolation.launch(
      { ...command(folder), cwd: tmp, env: { PATH: `${settings.path}:/usr/bin:/bin` } },
      { tenant, tmp, writable: [folder], readable: [] },
    );
    group = launch.group;
    files.push(...openDescriptors(launch));
    const end = spawnSync(launch.program, launch.args, {
      cwd: launch.cwd,
      env: launch.env,
      timeout: PROBE_MS,
      stdio: ['ignore', 'pipe', 'pipe', ...files],
      ...(launch.account ?? {}),
    });
    const said = `${end.error?.message ?? ''} ${end.stderr?.toString() ?? ''}`.trim();
    return {
      isFine: end.status === 0,
      stdout: end.stdout?.toString() ?? '',
      reason: said.slice(-500) || `it ended with ${end.status ?? end.signal}`,
    };
  } catch (error) {
    return { isFine: false, stdout: '', reason: (error as Error).message };
  } finally {
    for (const file of files) closeSync(file);
    group?.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Checks by a run that the isolation keeps its promises on this machine. Returns null, or the broken promise. */
export function probeIsolation(isolation: Isolation, settings: IsolationSettings): string | null {
  const account = isolation.accountOf(PROBE_TENANT);
  const end = runInside(isolation, settings, (folder) => ({
    program: '/bin/sh',
    args: [
      '-c',
      [
        'set -e',
        `test -r ${quoted(join(settings.assetsDir, 'bin/ctx'))} || { echo "the files of the runtime cannot be read" >&2; exit 1; }`,
        `echo written > ${quoted(join(folder, 'tmp', 'probe'))}`,
        'echo gone > /dev/null',
        ...(account ? [`test "$(id -u)" = ${account.uid}`] : []),
        ...(isolation.name === 'bubblewrap' ? [`test ! -e ${quoted(join(settings.workRoot, 'uids'))}`] : []),
        'grep -q "^NoNewPrivs:.1" /proc/self/status',
        'grep -q "^CapEff:.0*$" /proc/self/status',
        'echo fine',
      ].join('\n'),
    ],
  }));
  return end.isFine && end.stdout.endsWith('fine\n') ? null : end.reason;
}
