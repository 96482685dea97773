import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** Data of the kernel about processes (Linux); on other systems everything is empty. */
export interface Usage {
  cpuSeconds: number;
  rssMb: number;
}

/** Clock ticks per second in user space: 100 on every Linux that Node.js runs on. */
const TICKS_PER_SECOND = 100;
const PAGE_MB = 4096 / 1e6;

function statOf(pid: number): { parent: number; usage: Usage } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is a name in brackets and may contain spaces.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [parent, user, system, pages] = [fields[1], fields[11], fields[12], fields[21]].map(Number);
    return {
      parent: parent!,
      usage: { cpuSeconds: (user! + system!) / TICKS_PER_SECOND, rssMb: pages! * PAGE_MB },
    };
  } catch {
    return null;
  }
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

const allPids = (): number[] => {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
};

/** Returns the processes whose parent is `pid`. */
export function childrenOf(pid: number): number[] {
  return allPids().filter((one) => statOf(one)?.parent === pid);
}

function total(pids: readonly number[]): Usage {
  const sum: Usage = { cpuSeconds: 0, rssMb: 0 };
  for (const pid of pids) {
    const found = statOf(pid);
    sum.cpuSeconds += found?.usage.cpuSeconds ?? 0;
    sum.rssMb += found?.usage.rssMb ?? 0;
  }
  return sum;
}

/** Returns the PostgreSQL processes of connections to one database, found by their process titles. */
function backendsOf(database: string): number[] {
  return allPids().filter((pid) => {
    const title = commandLine(pid);
    return title.startsWith('postgres:') && title.split(' ').includes(database);
  });
}

/** Returns CPU and memory so far by name; `postgres` are the connections of `database` (shared memory is counted in each). */
export function usageOf(processes: ReadonlyMap<string, number>, database: string | null): Map<string, Usage> {
  const found = new Map<string, Usage>();
  for (const [name, pid] of processes) found.set(name, total([pid]));
  if (database) found.set('postgres', total(backendsOf(database)));
  return found;
}

/** Returns the CPU seconds between two readings, by name. */
export function cpuBetween(
  before: ReadonlyMap<string, Usage>,
  after: ReadonlyMap<string, Usage>,
): Record<string, number> {
  return Object.fromEntries(
    [...after].map(([name, usage]) => [
      name,
      Math.max(0, usage.cpuSeconds - (before.get(name)?.cpuSeconds ?? 0)),
    ]),
  );
}

/** Returns a process and all its descendants, by distinct names. */
export function treeOf(pid: number): Map<string, number> {
  const tree = new Map<string, number>();
  const add = (one: number): void => {
    const words = commandLine(one)
      .split(' ')
      .filter((word) => word !== '');
    const program = words.find((word) => word.endsWith('.js')) ?? words.slice(0, 3).join(' ');
    tree.set(`${one} ${program.split('/').slice(-2).join('/')}`, one);
    for (const child of childrenOf(one)) add(child);
  };
  add(pid);
  return tree;
}

/** Returns the memory of a process in MB; shared pages are counted proportionally. */
export function proportionalMb(pid: number): number {
  try {
    return (
      Number(/^Pss: +(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0) / 1000
    );
  } catch {
    return 0;
  }
}

/** Resets `peakRssMb` of a process. */
export function forgetPeakRss(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // If the kernel does not allow it, the peak is the one since the start, which is at worst too high.
  }
}

/** Returns the peak resident memory of a process since its start or the last reset, in MB. */
export function peakRssMb(pid: number): number {
  try {
    return Math.round(
      Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1000,
    );
  } catch {
    return 0;
  }
}
