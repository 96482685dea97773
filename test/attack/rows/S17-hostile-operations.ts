/** Row S17: hostile operations. Each has a control that does the same without isolation. */
import { spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../harness/processes';
import { type Targets, type Try, tries } from '../hostile-scripts';
import { type Planted, plant } from '../planted';
import { saying } from '../rig';
import { control, heldOrAdmitted, modes, type Outcome, type Rig, type Row } from '../row';

/** Matches a worker's report that it does not restrict network access. */
const SAYS_NETWORK = /network|loopback|metadata/i;

interface Played {
  isTaken: boolean;
  isDone: boolean;
  said: string;
}
type All = ReadonlyMap<string, { outside: Played; inside: Played }>;

const scriptOf = (one: Try, planted: Planted, targets: Targets): string =>
  `#!/bin/sh\n${saying(one.name)}${one.script(planted, targets)}\nsay DONE\ntrue\n`;

const playedBy = (said: string, { places }: Planted, { written }: Targets): Played => {
  const files = places.map((place) => join(place, written)).filter((file) => existsSync(file));
  for (const file of files) rmSync(file);
  return {
    isTaken: said.includes('TAKEN') || files.length > 0,
    isDone: said.includes('DONE'),
    said: `${said} ${files}`,
  };
};

/** Runs the script as the manager's own account, without isolation. */
async function outside(rig: Rig, script: string): Promise<string> {
  const cwd = mkdtempSync(join(tmpdir(), 'baton-control-'));
  if (rig.account) chownSync(cwd, rig.account.uid, rig.account.gid);
  try {
    const child = spawn('/bin/sh', ['-c', script], {
      cwd,
      stdio: ['ignore', 'pipe', 'inherit'],
      ...rig.account,
    });
    let said = '';
    child.stdout.on('data', (bytes) => (said += bytes));
    await new Promise((resolve) => child.once('close', resolve));
    return said;
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

/** An account from the range of uids that a worker of root gives to tenants; used by no tenant here. */
const ANOTHER_TENANT = { uid: 265_530, gid: 265_530 };

/**
 * Tries to connect until somebody accepts: as the operation of another tenant, or as the account of the tests. Returns a function
 * that stops it.
 */
function knocking(port: number, account: typeof ANOTHER_TENANT | null): () => void {
  const text = `import socket, time
while True:
    try:
        socket.create_connection(('127.0.0.1', ${port}), 1).close()
    except OSError:
        pass
    time.sleep(0.1)`;
  const child = spawn('python3', ['-c', text], { cwd: '/', stdio: 'ignore', ...account });
  return () => child.kill('SIGKILL');
}

async function targetsOf(planted: Planted, which: string): Promise<Targets> {
  const [port] = await freePorts(1);
  return { pid: planted.victim().pid!, written: `${planted.mark}-${which}`, port: port! };
}

async function playAll(rig: Rig): Promise<All> {
  const planted = await plant(rig);
  const stops: (() => void)[] = [];
  try {
    const found = new Map<string, { outside: Played; inside: Played }>();
    const asked = new Map<string, Targets>();
    const scripts: Record<string, string> = {};
    for (const one of tries) {
      const [first, second] = [await targetsOf(planted, 'control'), await targetsOf(planted, 'operation')];
      if (one.name === 'listens')
        stops.push(knocking(first.port, null), knocking(second.port, ANOTHER_TENANT));
      const said = await outside(rig, scriptOf(one, planted, first));
      found.set(one.name, {
        outside: playedBy(said, planted, first),
        inside: { isTaken: false, isDone: false, said: '' },
      });
      asked.set(one.name, second);
      scripts[one.name] = scriptOf(one, planted, second);
    }
    const alone = tries.filter(({ isAlone }) => isAlone).map(({ name }) => name);
    const together = tries.map(({ name }) => name).filter((name) => !alone.includes(name));
    for (const names of [together, ...alone.map((name) => [name])]) {
      const { printed } = await rig.operations(
        Object.fromEntries(names.map((name) => [name, scripts[name]!])),
      );
      for (const name of names) found.get(name)!.inside = playedBy(printed[name]!, planted, asked.get(name)!);
    }
    return found;
  } finally {
    for (const stop of stops) stop();
    planted.remove();
  }
}

const all = new WeakMap<Rig, Promise<All>>();

async function outcomeOf({ name, isEgress, isAlone }: Try, rig: Rig): Promise<Outcome> {
  if (!all.has(rig)) all.set(rig, playAll(rig));
  const { outside: without, inside } = (await all.get(rig)!).get(name)!;
  control(without.isTaken, `without isolation it does not succeed either: ${without.said}`);
  control(inside.isDone || isAlone === true, `the script did not come to its end: ${inside.said}`);
  const isOpen = isEgress === true && (await rig.notEnforced()).some((what) => SAYS_NETWORK.test(what));
  return heldOrAdmitted(
    !inside.isTaken,
    inside.isTaken ? `it got it: ${inside.said.trim()}` : 'nothing',
    isOpen,
  );
}

export const rows: Row[] = tries.map((one) => ({
  name: `S17 ${one.name}`,
  title: one.title,
  modes,
  run: (rig) => outcomeOf(one, rig),
}));
