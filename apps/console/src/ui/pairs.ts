/** Rows of two texts as objects of the API. */
import type { Pair } from './pair-rows';

export const pairsOf = (object: Readonly<Record<string, string>>): Pair[] => Object.entries(object);

const filled = (pairs: readonly Pair[]): Pair[] =>
  pairs.filter(([first, second]) => first.trim() !== '' || second.trim() !== '');

/** Rows without a first part are left out: somebody added them and wrote nothing. */
export const objectOf = (pairs: readonly Pair[]): Record<string, string> =>
  Object.fromEntries(filled(pairs).map(([first, second]) => [first.trim(), second]));

/** Returns errors by index: of rows whose first part is empty or stands twice. */
export function pairFaults(
  pairs: readonly Pair[],
  texts: { missing: string; twice: string },
): Record<number, string> {
  const faults: Record<number, string> = {};
  const seen = new Set<string>();
  for (const [at, [first, second]] of pairs.entries()) {
    const name = first.trim();
    if (name === '' && second.trim() !== '') faults[at] = texts.missing;
    if (name !== '' && seen.has(name)) faults[at] = texts.twice;
    seen.add(name);
  }
  return faults;
}
