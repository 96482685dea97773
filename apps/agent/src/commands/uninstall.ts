import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../config';
import { AgentFailure, exitCodes } from '../exit-codes';
import type { Places } from '../places';
import { holderOf } from '../run/lock';
import { readSettings, workRootOf } from '../run/settings';

/** The agent gives its operations time to end. */
const STOP_MS = 60_000;
const LOOK_MS = 100;

/**
 * Stops the agent and removes its folder, and that for programs elsewhere. No manager is asked. The unit and the user of the host
 * belong to the install script: its script for the removal removes them too. @throws AgentFailure
 */
export async function uninstall(places: Places, isSure: boolean): Promise<number> {
  // Without a configuration this is not the folder of an agent, and nothing is removed.
  const config = readConfig(places.config);
  if (!isSure)
    throw new AgentFailure(exitCodes.usage, `this stops the agent and removes ${places.dir}; say --yes`);
  for (const lock of [join(places.state, 'supervisor.lock'), places.lock]) await stop(lock);
  const workRoot = workRootOf(places, readSettings(places), config);
  for (const folder of [workRoot, places.dir])
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch (cause) {
      throw new AgentFailure(
        exitCodes.disk,
        `${folder} cannot be removed wholly: ${(cause as Error).message}`,
        { cause },
      );
    }
  process.stdout.write(`${places.dir} is removed\n`);
  return exitCodes.ok;
}

async function stop(lock: string): Promise<void> {
  const pid = holderOf(lock);
  if (pid === null) return;
  process.kill(pid, 'SIGTERM');
  for (let waited = 0; waited < STOP_MS && holderOf(lock) === pid; waited += LOOK_MS)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  if (holderOf(lock) === pid) process.kill(pid, 'SIGKILL');
}
