import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '@baton/kernel';
import { isRunning } from './process-identity';
import { StartRefused } from './refusal';

/** Signals that end a server of PostgreSQL, each rougher than the one before; none loses committed data. */
const WAYS: readonly { signal: NodeJS.Signals; limitMs: number }[] = [
  { signal: 'SIGINT', limitMs: 8_000 },
  { signal: 'SIGQUIT', limitMs: 3_000 },
  { signal: 'SIGKILL', limitMs: 3_000 },
];
const LOOK_MS = 20;

/**
 * Prepares `dataDir` for a new server. It ends processes that an earlier start left running there: a server whose manager was
 * killed, or backends of a killed server, which keep its memory. It then removes a `postmaster.pid` that names none of them: after
 * a reboot its number may belong to any process, and PostgreSQL counts a zombie as running. Only the owner of the home may call it.
 * @throws StartRefused when such a process does not end.
 */
export async function endLeftOver(dataDir: string): Promise<void> {
  const pidFile = join(dataDir, 'postmaster.pid');
  if (!existsSync(pidFile)) return;
  const left = processesOf(dataDir, numberIn(pidFile));
  for (const { signal, limitMs } of WAYS) {
    for (const pid of left) tell(pid, signal);
    if (await haveEnded(left, limitMs)) break;
  }
  const lasting = left.filter(isRunning);
  if (lasting.length > 0)
    throw new StartRefused(
      `PostgreSQL of an earlier start still runs on ${dataDir} and cannot be ended: process ${lasting.join(', ')}.`,
      1,
    );
  rmSync(pidFile, { force: true });
}

function numberIn(pidFile: string): number | null {
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
  return Number.isInteger(pid) && pid > 1 ? pid : null;
}

/**
 * Returns the server and backends of PostgreSQL whose working folder is `dataDir`; on systems other than Linux, only the server.
 */
function processesOf(dataDir: string, named: number | null): number[] {
  if (existsSync('/proc/self/stat')) {
    const folder = realpathSync(dataDir);
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => pid !== process.pid && isRunning(pid) && isPostgresIn(pid, folder));
  }
  return named !== null && isRunning(named) && isCalledPostgres(named) ? [named] : [];
}

function isPostgresIn(pid: number, folder: string): boolean {
  try {
    const isPostgres = readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'postgres';
    return isPostgres && readlinkSync(`/proc/${pid}/cwd`) === folder;
  } catch {
    // The process ended meanwhile, or belongs to another user.
    return false;
  }
}

function isCalledPostgres(pid: number): boolean {
  return (
    spawnSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' }).stdout?.includes('postgres') ??
    false
  );
}

function tell(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended.
  }
}

async function haveEnded(pids: readonly number[], limitMs: number): Promise<boolean> {
  const until = systemClock.monotonic() + limitMs;
  while (pids.some(isRunning)) {
    if (systemClock.monotonic() > until) return false;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return true;
}
