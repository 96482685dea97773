import { isAppError } from '@baton/kernel';

/** Errors that may be over soon, after which the others are not tried: what all of them need does not answer. */
const MAX_PASSING = 3;

/**
 * Does `work` for each one after the other; one that cannot be done does not keep the others from it, as it would with each
 * tick of a loop.
 * @throws the first error, after the others.
 */
export async function eachAlone<T>(
  items: Iterable<T>,
  work: (item: T) => Promise<unknown>,
  onFailed?: (item: T, error: unknown) => void,
): Promise<void> {
  const errors: unknown[] = [];
  let passing = 0;
  for (const item of items) {
    try {
      await work(item);
    } catch (error) {
      errors.push(error);
      onFailed?.(item, error);
      if (isAppError(error) && error.entry.retryable && ++passing === MAX_PASSING) break;
    }
  }
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
