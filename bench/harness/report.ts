import type { Mode } from '../../test/harness/fleet';

/** What a suite gets from the command line. */
export interface Plan {
  rounds: number;
  isQuick: boolean;
  modes: readonly Mode[];
  /** Less data where a suite fills a database first. */
  isSmall: boolean;
  /** A database that was filled before (bench/seed/main.ts), which stays. */
  database?: string;
  /** Pattern of the shapes to measure; all without it. */
  only?: string;
  /** Milliseconds that this suite may take; it ends with the rounds it has. */
  budgetMs: number;
  say(line: string): void;
}

/** A line of aligned columns for people. */
export function columns(...cells: (string | number)[]): string {
  return cells.map((cell, i) => (i === 0 ? String(cell).padEnd(34) : String(cell).padStart(13))).join('');
}
