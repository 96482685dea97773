import type { Mode } from '../../test/harness/fleet';

/** What a suite gets from the command line. */
export interface Plan {
  rounds: number;
  isQuick: boolean;
  modes: readonly Mode[];
  /** Milliseconds that this suite may take; it ends with the rounds it has. */
  budgetMs: number;
  say(line: string): void;
}

/** A line of aligned columns for people. */
export function columns(...cells: (string | number)[]): string {
  return cells.map((cell, i) => (i === 0 ? String(cell).padEnd(34) : String(cell).padStart(13))).join('');
}
