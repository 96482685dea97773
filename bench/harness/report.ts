import type { Mode } from '../../test/harness/fleet';

/** Options of a suite from the command line. */
export interface Plan {
  rounds: number;
  isQuick: boolean;
  modes: readonly Mode[];
  /** An hour instead of minutes in suites that measure long-term behaviour. */
  isHour: boolean;
  /** Less data in suites that first fill a database. */
  isSmall: boolean;
  /** A database that was filled before (bench/seed/main.ts); it is kept. */
  database?: string;
  /** Pattern of the shapes to measure; absent: all. */
  only?: string;
  /** Milliseconds that this suite may take; it then ends with the finished rounds. */
  budgetMs: number;
  say(line: string): void;
}

/** Returns a line of aligned columns for people. */
export function columns(...cells: (string | number)[]): string {
  return cells.map((cell, i) => (i === 0 ? String(cell).padEnd(34) : String(cell).padStart(13))).join('');
}
