/** Selects the commands that match the typed text, best first. */

export interface Named {
  text: string;
}

/**
 * Fuzzy score: all typed letters must occur in their order. Beginnings of words and contiguous letters score higher. null: no
 * match.
 */
export function scoreOf(text: string, typed: string): number | null {
  const [hay, needle] = [text.toLowerCase(), typed.toLowerCase().replaceAll(' ', '')];
  let score = 0;
  let at = -1;
  for (const letter of needle) {
    const next = hay.indexOf(letter, at + 1);
    if (next < 0) return null;
    if (next === at + 1) score += 3;
    if (next === 0 || !/[\p{L}\p{N}]/u.test(hay[next - 1]!)) score += 2;
    score -= (next - at - 1) * 0.1;
    at = next;
  }
  return score;
}

export const matching = <Item extends Named>(items: readonly Item[], typed: string): Item[] =>
  items
    .flatMap((item, place) => {
      const score = scoreOf(item.text, typed);
      return score === null ? [] : [{ item, score, place }];
    })
    .sort((a, b) => b.score - a.score || a.place - b.place)
    .map(({ item }) => item);

/** Returns the list position after a key; the list wraps around. */
export function moved(at: number, key: string, length: number): number {
  if (length === 0) return 0;
  if (key === 'ArrowDown') return (at + 1) % length;
  if (key === 'ArrowUp') return (at - 1 + length) % length;
  if (key === 'Home') return 0;
  if (key === 'End') return length - 1;
  return at;
}
