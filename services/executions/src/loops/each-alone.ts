import { isAppError } from '@baton/kernel';

/** Errors that may be over soon, after which the others are not tried: what all of them need does not answer. */
const MAX_PASSING = 3;

/**
 * Does `work` for each one in their order, at most `atOnce` at a time; one that cannot be done does not keep the others from it,
 * as it would with each tick of a loop.
 * @throws the first error, after the others.
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

/** Rows by what they are of, in the order of the first of each. */
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
