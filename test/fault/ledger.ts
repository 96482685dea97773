import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A line that an operation wrote by itself, outside of the system. */
export interface LedgerLine {
  /** Epoch ms. */
  t: number;
  phase: 'start' | 'end';
  execution: string;
  task: string;
  /** One run of one attempt. The result of a task is the id of its accepted run. */
  run: string;
  /** Process id of the worker. */
  pid: number;
  isResumed?: boolean;
}

/** A run as shown by the ledger; without `endedAt` it is still running, or its process died. */
export interface LedgerRun {
  run: string;
  execution: string;
  task: string;
  pid: number;
  startedAt: number;
  endedAt: number | null;
}

export interface Ledger {
  path: string;
  runs(): LedgerRun[];
  /** Runs that have begun but not ended, of processes for which `isAlive` returns true. */
  inFlight(isAlive?: (pid: number) => boolean): LedgerRun[];
  /** Gives an order to the operations: the first process that sees it carries it out, once. */
  order(name: Order): void;
  /** Whether the order has not been carried out yet. */
  isOrdered(name: Order): boolean;
}

export type Order = 'die-before-report' | 'exhaust-memory';

export function openLedger(dir: string): Ledger {
  const path = join(dir, 'ledger.jsonl');
  writeFileSync(path, '', { flag: 'a' });
  const runs = (): LedgerRun[] => {
    const byRun = new Map<string, LedgerRun>();
    for (const text of readFileSync(path, 'utf8').split('\n')) {
      if (text === '') continue;
      const line = JSON.parse(text) as LedgerLine;
      const { run, execution, task, pid } = line;
      if (line.phase === 'start')
        byRun.set(run, { run, execution, task, pid, startedAt: line.t, endedAt: null });
      else {
        const known = byRun.get(run);
        if (!known) throw new Error(`the ledger has an end without a start: ${text}`);
        known.endedAt = line.t;
      }
    }
    return [...byRun.values()];
  };
  return {
    path,
    runs,
    inFlight: (isAlive = () => true) => runs().filter((run) => run.endedAt === null && isAlive(run.pid)),
    order: (name) => writeFileSync(join(dir, name), ''),
    isOrdered: (name) => existsSync(join(dir, name)),
  };
}
