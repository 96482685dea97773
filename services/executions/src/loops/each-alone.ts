import { isAppError } from '@baton/kernel';

/** After this many retryable errors the rest is not tried: the service that all items need is probably unavailable. */
const MAX_PASSING = 3;

/**
 * Runs `work` for each item in order, at most `atOnce` at a time. A failing item does not prevent the others, in this tick or,
 * through them, in later ticks of a loop.
 * @throws the first error, after the other items.
 */
export async function eachAlone<T>(
  items: Iterable<T>,
  work: (item: T) => Promise<unknown>,
  {
    onFailed,
    atOnce = 1,
  }: { onFailed?: (item: T, error: unknown) => void; atOnce?: number | undefined } = {},
): Promise<void> {
  const errors: unknown[] = [];
  let passing = 0;
  const left = items[Symbol.iterator]();
  const goThrough = async (): Promise<void> => {
    while (passing < MAX_PASSING) {
      const next = left.next();
      if (next.done) return;
      try {
        await work(next.value);
      } catch (error) {
        errors.push(error);
        onFailed?.(next.value, error);
        if (isAppError(error) && error.entry.retryable) passing++;
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, goThrough));
  if (errors.length > 0) throw errors[0];
}

/** Groups rows by key, in the order of the first row of each key. */
export function byKey<T>(rows: Iterable<T>, keyOf: (row: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const known = groups.get(key);
    if (known) known.push(row);
    else groups.set(key, [row]);
  }
  return groups;
}
