import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file for each run that has hosts on this machine: its process and its folder. */
const RECORDS = '/run/baton-hosts';
const SWEEP = join(__dirname, 'sweep.sh');
/** Third numbers of the addresses 10.213.*.0/24, one for each run. */
const NETWORKS = 250;

/** What belongs to one run: a network of its own, a folder, and a guard that removes both. */
export interface RunRecord {
  /** Number of its network: the bridge is `bh<number>`, the namespaces are `bh<number>-<i>`. */
  number: number;
  folder: string;
  /** Removes everything of the run; resolves when nothing is left. */
  close(): Promise<void>;
}

/**
 * Reserves a network and a folder for the hosts of this process, after it has removed what dead processes left. A guard process removes
 * them when this process ends, even by kill -9.
 * @throws Error when all networks are taken
 */
export function openRunRecord(): RunRecord {
  mkdirSync(RECORDS, { recursive: true });
  sweepDead();
  const folder = mkdtempSync(join(tmpdir(), `baton-hosts-${process.pid}-`));
  const number = reserve(`${process.pid} ${startOf(process.pid)}\n${folder}\n`);
  const record = join(RECORDS, String(number));
  const guard = spawn('/bin/sh', [SWEEP, record, 'wait'], {
    detached: true,
    env: { PATH: process.env.PATH },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const gone = new Promise<void>((resolve) => guard.once('exit', () => resolve()));
  guard.unref();
  return {
    number,
    folder,
    close: async () => {
      guard.ref();
      guard.stdin.end();
      await gone;
    },
  };
}

/** Removes the hosts of processes that have ended, and whose guard has ended too. */
function sweepDead(): void {
  for (const name of readdirSync(RECORDS)) {
    const record = join(RECORDS, name);
    const [pid = '', start = ''] = readIfThere(record).split('\n')[0]!.split(' ');
    if (pid === '' || startOf(Number(pid)) === start) continue;
    spawnSync('/bin/sh', [SWEEP, record], { stdio: 'ignore' });
  }
}

function reserve(text: string): number {
  for (let tried = 0; tried < NETWORKS; tried++) {
    const number = 1 + ((process.pid + tried) % NETWORKS);
    try {
      writeFileSync(join(RECORDS, String(number)), text, { flag: 'wx' });
      return number;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  throw new Error(`all ${NETWORKS} networks for hosts are taken; their runs are in ${RECORDS}`);
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Returns the start time of a process: with it a process id means one process only. Empty when there is none. */
function startOf(pid: number): string {
  const stat = readIfThere(`/proc/${pid}/stat`);
  // The name in parentheses may contain anything.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}
