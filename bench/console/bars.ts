/** Measured values beside their limits (bars): a line for people, a record for machines. */
import { rounded } from '../harness/statistics';

/** Source of the data behind a figure: a filled manager, or answers invented by the edge of the bench. */
export type Source = 'manager' | 'stub';

export interface Bar {
  name: string;
  unit: string;
  value: number;
  /** Absent: the value is reported but not judged. */
  limit?: { most: number } | { least: number };
  source: Source;
  passed: boolean | null;
  note?: string;
}

export interface Bars {
  all: Bar[];
  judge(bar: Omit<Bar, 'passed'>): void;
  /** Records a part that could not be measured as a missed bar. */
  failed(name: string, error: unknown): void;
}

export function createBars(say: (line: string) => void): Bars {
  const all: Bar[] = [];
  const add = (bar: Bar): void => {
    all.push(bar);
    say(lineOf(bar));
  };
  return {
    all,
    judge: (given) => add({ ...given, value: rounded(given.value), passed: isKept(given) }),
    failed: (name, error) => {
      const note = (error as Error).message.split('\n')[0];
      add({ name, unit: '', value: Number.NaN, source: 'manager', passed: false, note });
    },
  };
}

function isKept({ value, limit }: Pick<Bar, 'value' | 'limit'>): boolean | null {
  if (!limit) return null;
  // NaN also counts as missed.
  return 'most' in limit ? value <= limit.most : value >= limit.least;
}

function lineOf({ name, unit, value, limit, source, passed, note }: Bar): string {
  const bar =
    limit === undefined ? '' : 'most' in limit ? `at most ${limit.most}` : `at least ${limit.least}`;
  const said = passed === null ? '' : passed ? 'passed' : 'FAILED';
  const cells = [
    name.padEnd(58),
    `${value} ${unit}`.padStart(14),
    bar.padStart(16),
    said.padStart(7),
    source,
  ];
  return [...cells, note ?? ''].join('  ').trimEnd();
}
