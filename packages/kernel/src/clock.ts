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

/** ISO 8601 in UTC with milliseconds and a trailing Z, cut, not rounded (spec v3.1 part 1, "All paths below"). */
export function isoInstant(epochMs: number): string {
  return new Date(Math.floor(epochMs)).toISOString();
}
