/** The only place that reads the clock of the process; leases and due times follow `app_now()` in SQL instead. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
  /** Milliseconds of a clock that never goes back; only differences mean something. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

/** A hundred years: the upper bound of every wait. Its end is a time that clocks and databases can represent. */
const LONGEST_WAIT_MS = 100 * 365 * 86_400_000;

/** Returns the time, in whole ms, at which a wait of `delayMs` from `nowMs` ends: never earlier than requested. */
export function waitUntil(nowMs: number, delayMs: number): number {
  return nowMs + Math.ceil(Math.min(delayMs, LONGEST_WAIT_MS));
}

/** Node's timers are limited to 24.8 days; a longer delay would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Calls `run` after any number of ms. Returns a function that cancels the call. */
export function afterDelay(delayMs: number, run: () => void): () => void {
  let timer: NodeJS.Timeout;
  const wait = (leftMs: number): void => {
    const now = Math.min(leftMs, LONGEST_TIMER_MS);
    timer = setTimeout(() => (leftMs > now ? wait(leftMs - now) : run()), now);
  };
  wait(delayMs);
  return () => clearTimeout(timer);
}

/** ISO 8601 in UTC with milliseconds and a trailing Z, cut, not rounded (spec v3.1 part 1, "All paths below"). */
export function isoInstant(epochMs: number): string {
  return new Date(Math.floor(epochMs)).toISOString();
}
