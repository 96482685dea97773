import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '@baton/kernel';

export interface Looks {
  withinMs: number;
  everyMs: number;
  signal?: AbortSignal;
}

/**
 * Reads until `isDone` with what was found, or the time is over; answers what was found last.
 * @throws what `read` throws; AbortError when the signal comes first.
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
