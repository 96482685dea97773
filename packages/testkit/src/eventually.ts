import { systemClock } from '@baton/kernel';

const STEP_MS = 10;
/** The interval grows with the wait so far: at most a twentieth of the wait is lost, and the other side is hardly disturbed. */
const MOST_STEP_MS = 100;
const SHARE = 20;

/**
 * Returns the value of `check` once it returns without throwing (and not `false`). It is the only place in tests that polls, for
 * effects of another process or connection. `everyMs`: fixed interval instead of 10 to 100 ms.
 * @throws the last failure when `deadlineMs` (default 30 s: only against hangs) is over.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  options: { deadlineMs?: number; everyMs?: number } = {},
): Promise<T> {
  const start = systemClock.monotonic();
  const end = start + (options.deadlineMs ?? 30_000);
  for (;;) {
    try {
      const value = await check();
      if (value !== false) return value;
      throw new Error('the condition is still false');
    } catch (error) {
      if (systemClock.monotonic() >= end) throw error;
    }
    const share = (systemClock.monotonic() - start) / SHARE;
    const stepMs = options.everyMs ?? Math.min(MOST_STEP_MS, Math.max(STEP_MS, share));
    await new Promise((resolve) => setTimeout(resolve, stepMs));
  }
}
