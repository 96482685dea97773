import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Launch } from './port';

/**
 * Starts it in a process group of its own. @throws Error as spawn does
 */
export function startLaunch(
  launch: Launch,
  stdio: ['ignore', 'ignore' | 'pipe', 'ignore' | 'pipe'],
): ChildProcess {
  // Opened each time: what is read from one moves the place of all that share it.
  const opened = launch.descriptors.map((path) => openSync(path, 'r'));
  try {
    return spawn(launch.program, launch.args, {
      cwd: launch.cwd,
      env: launch.env,
      detached: true,
      stdio: [...stdio, ...opened] as StdioOptions,
      ...(launch.account ?? {}),
    });
  } finally {
    for (const file of opened) closeSync(file);
  }
}
