import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '@baton/kernel';
import { isRunning } from './process-identity';
import { StartRefused } from './refusal';

/** Each next way to end a server of PostgreSQL is rougher; none loses what was committed. */
const WAYS: readonly { signal: NodeJS.Signals; limitMs: number }[] = [
  { signal: 'SIGINT', limitMs: 8_000 },
  { signal: 'SIGQUIT', limitMs: 3_000 },
  { signal: 'SIGKILL', limitMs: 3_000 },
];
const LOOK_MS = 20;

/**
 * Makes way for a server on `dataDir`: ends what an earlier one left running there (a server whose manager was killed, or
 * backends whose server was, which keep its memory), and removes a `postmaster.pid` that names nobody of these: after a
 * reboot its number may be anybody's, and a zombie's counts as running for PostgreSQL. Only whoever owns the home may call it.
 * @throws StartRefused when something does not end.
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

/** Server and backends of PostgreSQL on the folder. They work in it; elsewhere than on Linux only the server is found. */
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
    // Gone meanwhile, or somebody else's.
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
    // It has ended.
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
