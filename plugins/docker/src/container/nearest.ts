/** A hint for a misspelt name: the known one that shares most pairs of letters; '' when none is near. */
export function nearest(name: string, known: readonly string[]): string {
  const pairs = (text: string): Set<string> =>
    new Set([...text].slice(1).map((letter, at) => text[at] + letter));
  const own = pairs(name);
  const scored = known.map((one) => {
    const other = pairs(one);
    const shared = [...own].filter((pair) => other.has(pair)).length;
    return { one, score: (2 * shared) / (own.size + other.size || 1) };
  });
  const best = scored.sort((a, b) => b.score - a.score)[0];
  return best !== undefined && best.score > 0.4 ? `; did you mean ${best.one}?` : '';
}
