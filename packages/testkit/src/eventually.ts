import { systemClock } from '@baton/kernel';

const STEP_MS = 10;

/**
 * The value of `check` once it returns without throwing (and not `false`); the only place in tests that polls.
 * For effects that another process or connection brings about.
 * `everyMs` (default 10): longer where each look costs the other side something.
 * @throws the last failure when `deadlineMs` (default 30 s: against hangs only) is over.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  options: { deadlineMs?: number; everyMs?: number } = {},
): Promise<T> {
  const end = systemClock.monotonic() + (options.deadlineMs ?? 30_000);
  for (;;) {
    try {
      const value = await check();
      if (value !== false) return value;
      throw new Error('the condition is still false');
    } catch (error) {
      if (systemClock.monotonic() >= end) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, options.everyMs ?? STEP_MS));
  }
}
