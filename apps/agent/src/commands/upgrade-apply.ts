import { execFileSync } from 'node:child_process';
import { copyFile, mkdir, rename } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { productVersion } from '@baton/service-runtime';
import { AgentFailure, exitCodes } from '../exit-codes';
import type { Places } from '../places';
import { holderOf } from '../run/lock';
import { currentVersion, programOf, switchTo, writeUpgrade } from '../upgrade/versions';

const CHECK_MS = 60_000;

/** Makes a program that was brought by hand the one of this agent, and lets a running agent start again. @throws AgentFailure */
export async function applyUpgrade(places: Places, program: string | undefined): Promise<number> {
  if (program === undefined) throw new AgentFailure(exitCodes.usage, 'which program? say --program FILE');
  const file = resolve(program);
  const ask = (...args: string[]): string => {
    try {
      return execFileSync(file, args, { encoding: 'utf8', timeout: CHECK_MS }).trim();
    } catch (cause) {
      throw new AgentFailure(exitCodes.unfit, `${file} ${args[0]}: ${(cause as Error).message.trim()}`, {
        cause,
      });
    }
  };
  const version = ask('version');
  if (!/^[\w.+-]{1,100}$/.test(version))
    throw new AgentFailure(exitCodes.unfit, `${file}: ${version} is no version`);
  ask('check', '--dir', places.dir);
  const place = programOf(places, version);
  await mkdir(dirname(place), { recursive: true, mode: 0o755 });
  await copyFile(file, `${place}.part`);
  await rename(`${place}.part`, place);
  const from = currentVersion(places) ?? productVersion;
  writeUpgrade(places, { version, state: 'running', reason: '', from, starts: 0 });
  switchTo(places, version);
  const pid = holderOf(places.lock);
  if (pid !== null) process.kill(pid, 'SIGTERM');
  process.stdout.write(
    `version ${version} starts ${pid === null ? 'with the next start of the agent' : 'now'}\n`,
  );
  return exitCodes.ok;
}
