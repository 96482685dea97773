import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Launch } from './port';

/**
 * Starts the launch in its own process group. `with-wire`: the child gets one more descriptor, after those of the launch: a socket
 * in both directions, the last of `stdio`.
 * @throws Error as spawn does
 */
export function startLaunch(
  launch: Launch,
  stdio: ['ignore' | 'pipe', 'ignore' | 'pipe', 'ignore' | 'pipe'],
  wire?: 'with-wire',
): ChildProcess {
  const opened = openDescriptors(launch);
  try {
    return spawn(launch.program, launch.args, {
      cwd: launch.cwd,
      env: launch.env,
      detached: true,
      stdio: [...stdio, ...opened, ...(wire ? ['pipe'] : [])] as StdioOptions,
      ...(launch.account ?? {}),
    });
  } finally {
    for (const file of opened) closeSync(file);
  }
}

/**
 * Opens the descriptors of the child, from 3 on. Opened for each launch: processes that share a descriptor share its
 * read position.
 */
export function openDescriptors({ descriptors, group }: Launch): number[] {
  const opened = descriptors.map((path) => openSync(path, 'r'));
  if (group) opened.push(openSync(group.procs, 'w'));
  return opened;
}
