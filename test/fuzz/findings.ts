/** Findings, counted by kind and place; the first of each is printed. */
const found = new Map<string, number>();

export function tell(kind: string, place: string, text: string): void {
  const key = `${kind}: ${place}`;
  const times = (found.get(key) ?? 0) + 1;
  found.set(key, times);
  if (times === 1) console.log(`${kind}: ${text}`);
}

export const findings = (): ReadonlyMap<string, number> => found;
