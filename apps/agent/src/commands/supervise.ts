/** Keeps the agent alive where no service manager does: a small process that starts it again whenever it ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { backoffMs, systemClock } from '@baton/kernel';
import { complain } from '../complain';
import { environmentWith } from '../config';
import { exitCodes } from '../exit-codes';
import type { Places } from '../places';
import { takeLock } from '../run/lock';
import { PROGRAM, readUpgrade, undo } from '../upgrade/versions';

const RETRY = { firstMs: 1_000, maxMs: 30_000, factor: 2, jitter: 0.3 };
/** An agent that ran this long has started well. */
const WELL_MS = 60_000;
/** A new version that ends this often before is undone, even when it cannot say so itself. */
const MOST_FAILURES = 4;

/** One arena of malloc instead of one for each thread: 2 MB less of an idle agent. Operations do not get it. */
const SMALL = { MALLOC_ARENA_MAX: '1' };

/** Returns the exit code after SIGTERM or SIGINT, which it passes on. */
export async function supervise(places: Places): Promise<number> {
  const unlock = takeLock(join(places.state, 'supervisor.lock'));
  let child: ChildProcess | null = null;
  let isStopped = false;
  let wake: () => void = () => undefined;
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      isStopped = true;
      child?.kill(signal);
      wake();
    });
  try {
    for (let failures = 0; !isStopped; ) {
      const startedAt = systemClock.monotonic();
      child = start(places);
      const code = await endOf(child);
      child = null;
      if (isStopped) break;
      if (code === exitCodes.again) continue;
      failures = systemClock.monotonic() - startedAt > WELL_MS ? 1 : failures + 1;
      if (failures >= MOST_FAILURES) undoTrial(places, code);
      complain(`the agent ended (${code}); it is started again\n`);
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, backoffMs(failures, RETRY));
      });
    }
    return exitCodes.ok;
  } finally {
    unlock();
  }
}

function start(places: Places): ChildProcess {
  const current = join(places.current, PROGRAM);
  const program = existsSync(current) ? current : process.execPath;
  const env = environmentWith(SMALL);
  return spawn(program, ['run', '--config', places.config], { stdio: 'inherit', env });
}

function endOf(child: ChildProcess): Promise<number | string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
}

function undoTrial(places: Places, code: number | string): void {
  const upgrade = readUpgrade(places);
  if (upgrade?.state !== 'running') return;
  try {
    undo(places, upgrade, `it ended again and again (${code})`);
  } catch (error) {
    complain(`the new version cannot be undone: ${(error as Error).message}\n`);
  }
}
