import { systemClock } from '@baton/kernel';

/** Most places that are remembered; the oldest is forgotten for a new one. */
const MOST_PLACES = 1_000;

/** Remembers the places whose operations found no waiting server. */
export class Misses {
  /** Place -> time of its last miss, the oldest first. */
  readonly #last = new Map<string, number>();

  /** @param withinMs misses further apart than this do not belong together */
  constructor(private readonly withinMs: number) {}

  /** Counts a miss. Returns whether another one came shortly before: then operations of the place will come again. */
  isFrequent(key: string): boolean {
    const now = systemClock.monotonic();
    const before = this.#last.get(key);
    this.#last.delete(key);
    this.#last.set(key, now);
    if (this.#last.size > MOST_PLACES) this.#last.delete(this.#last.keys().next().value ?? '');
    return before !== undefined && now - before <= this.withinMs;
  }
}
