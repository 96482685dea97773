/** Plays the unit that install.sh wrote, without systemd: starts its program with its settings, and stops it as it says. */

import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@baton/testkit/eventually';
import { demand, type Shell } from './shell';

export interface Installed {
  home: string;
  prefix: string;
  env: Record<string, string>;
  port: string;
}

/** Checks the unit of an ordinary user. Afterwards the manager runs, started by the unit's program. */
export async function checkUnit(shell: Shell, at: Installed): Promise<void> {
  const text = readFileSync(join(at.home, '.config/systemd/user/baton.service'), 'utf8');
  demand(!/@[A-Z]+@/.test(text), `not filled in: ${text}`);
  const values = (name: string): string[] =>
    [...text.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map((match) => match[1]!);
  const [program] = values('ExecStart');
  demand((statSync(program!).mode & 0o111) !== 0, `${program} is not executable`);
  for (const path of values('ReadWritePaths').join(' ').split(' '))
    demand(statSync(path).isDirectory(), `${path} is no folder`);
  const [settings] = values('EnvironmentFile');
  demand(existsSync(settings!.replace(/^-/, '')), `${settings} is not there`);
  demand(
    values('KillMode')[0] === 'mixed' && values('KillSignal').length === 0,
    'the first signal is SIGTERM, to the manager',
  );
  const stopMs = Number(values('TimeoutStopSec')[0]) * 1000;
  await stopWithin(stopMs, at);
  const unitEnv = Object.fromEntries(
    values('Environment').map((pair) => [
      pair.slice(0, pair.indexOf('=')),
      pair.slice(pair.indexOf('=') + 1),
    ]),
  );
  const start = async () => {
    const child = shell.start(program!, [], {
      cwd: '/',
      env: { ...at.env, ...unitEnv },
      isUnprivileged: true,
    });
    child.stdout!.resume();
    child.stderr!.resume();
    await ready(at);
    return child;
  };
  const child = await start();
  const ended = once(child, 'exit');
  await stopWithin(stopMs, at);
  const [code, signal] = await ended;
  // Another end would make systemd start it again (Restart=on-failure).
  demand(code === 0 && signal === null, `it ended with ${code ?? signal}`);
  await start();
}

async function ready({ port }: Installed): Promise<void> {
  await eventually(
    async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
      demand(answer.ok, `it answers ${answer.status}`);
    },
    { deadlineMs: 60_000, everyMs: 200 },
  );
}

/** Sends the unit's signal to the manager and waits until nothing of it is left. @throws Error after `limitMs` */
async function stopWithin(limitMs: number, at: Installed): Promise<void> {
  const manager = processesOf(at).find(({ command }) => command.includes('/apps/standalone/main.js'));
  demand(manager, 'no manager runs');
  process.kill(manager.pid, 'SIGTERM');
  await eventually(
    async () => {
      const left = processesOf(at);
      demand(left.length === 0, `still there: ${left.map(({ command }) => command).join('; ')}`);
    },
    { deadlineMs: limitMs, everyMs: 100 },
  );
}

/** Processes that were started from the installed programs or work on the data: manager, workers, PostgreSQL. */
function processesOf({ prefix, home }: Installed): { pid: number; command: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const command = commandOf(pid);
      const isOurs = command.includes(`${prefix}/`) || command.includes(join(home, '.baton'));
      return isOurs ? [{ pid: Number(pid), command }] : [];
    });
}

/** Empty: the process is gone. */
function commandOf(pid: string): string {
  try {
    return readFileSync(join('/proc', pid, 'cmdline'), 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
