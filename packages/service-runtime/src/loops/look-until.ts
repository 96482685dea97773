import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '@baton/kernel';

export interface Looks {
  withinMs: number;
  everyMs: number;
  signal?: AbortSignal;
}

/**
 * Reads until `isDone` accepts the result, or the time is over; returns the last result.
 * @throws the error of `read`; AbortError when the signal comes first.
 */
export async function lookUntil<T>(
  read: () => Promise<T>,
  isDone: (found: T) => boolean,
  { withinMs, everyMs, signal }: Looks,
): Promise<T> {
  const until = systemClock.monotonic() + withinMs;
  for (;;) {
    const found = await read();
    if (isDone(found) || systemClock.monotonic() > until) return found;
    await pause(everyMs, undefined, { signal });
  }
}
