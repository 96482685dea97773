/** Bounds the requests of one address that need no credential: enrolment, packages, install scripts. */
import type { Clock } from '@baton/kernel';
import { tooMany } from '../too-many';

/** A hundred hosts behind one address may be installed in a minute: each makes four or five such requests. */
const PER_MINUTE = 600;
const MINUTE_MS = 60_000;
const MAX_ADDRESSES = 10_000;

export interface OpenRates {
  /** @throws AppError too_many_requests_error */
  count(address: string): void;
}

/** A bucket for each address that fills evenly; those that are full again are dropped when there are too many. */
export function createOpenRates(clock: Clock, perMinute = PER_MINUTE): OpenRates {
  const buckets = new Map<string, { left: number; atMs: number }>();
  return {
    count(address) {
      const nowMs = clock.monotonic();
      let bucket = buckets.get(address);
      if (!bucket) {
        if (buckets.size >= MAX_ADDRESSES)
          for (const [name, { atMs }] of buckets) if (nowMs - atMs > MINUTE_MS) buckets.delete(name);
        buckets.set(address, (bucket = { left: perMinute, atMs: nowMs }));
      }
      bucket.left = Math.min(perMinute, bucket.left + ((nowMs - bucket.atMs) * perMinute) / MINUTE_MS);
      bucket.atMs = nowMs;
      if (bucket.left < 1)
        throw tooMany({ scope: 'address', limit: perMinute, what: 'requests of agents in a minute' });
      bucket.left -= 1;
    },
  };
}
