/** Limits on the requests a minute of one user and one tenant through one gateway. */
import type { RouteContract } from '@baton/contracts';
import type { Clock } from '@baton/kernel';
import { changes } from './maintenance';
import { tooMany } from './too-many';

export interface RateSettings {
  /** Requests of one user a minute; a tenant may make TENANT_FACTOR times as many. 0: not counted. */
  requests: number;
  changes: number;
  uploads: number;
}

const MINUTE_S = 60;
const TENANT_FACTOR = 4;
/** Above this number, buckets that are full again are removed. */
const MAX_BUCKETS = 20_000;

interface Bucket {
  left: number;
  atMs: number;
}

interface Kind {
  name: string;
  what: string;
  limit: number;
}

export interface Rates {
  /**
   * Counts a request. Returns headers [name, value, ...] with the remaining requests, for changes.
   * @throws AppError too_many_requests_error
   */
  count(contract: RouteContract, method: string, user: string, tenant: string): string[];
}

/**
 * Token buckets that hold the requests of one minute and fill evenly: bursts pass, and continuous traffic is limited to the rate.
 * Each gateway counts for itself, so that no request waits for a shared counter; N gateways together allow N times the rate.
 */
export function createRates(settings: RateSettings, clock: Clock): Rates {
  const buckets = new Map<string, Bucket>();
  const take = (scope: 'user' | 'tenant', name: string, kind: Kind): number => {
    const limit = scope === 'user' ? kind.limit : kind.limit * TENANT_FACTOR;
    const perMs = limit / (MINUTE_S * 1000);
    const nowMs = clock.monotonic();
    const key = `${kind.name} ${scope} ${name}`;
    let bucket = buckets.get(key);
    if (!bucket) {
      if (buckets.size >= MAX_BUCKETS) dropFull(buckets, nowMs);
      buckets.set(key, (bucket = { left: limit, atMs: nowMs }));
    }
    bucket.left = Math.min(limit, bucket.left + (nowMs - bucket.atMs) * perMs);
    bucket.atMs = nowMs;
    if (bucket.left < 1) {
      const retryAfterS = Math.max(1, Math.ceil((1 - bucket.left) / perMs / 1000));
      throw tooMany({ scope, limit, what: `${kind.what} in a minute`, retryAfterS });
    }
    bucket.left -= 1;
    return Math.floor(bucket.left);
  };
  const requests: Kind = { name: 'requests', what: 'requests', limit: settings.requests };
  const writes: Kind = { name: 'changes', what: 'changes', limit: settings.changes };
  const uploads: Kind = { name: 'uploads', what: 'uploads', limit: settings.uploads };

  const counted = (kind: Kind, user: string, tenant: string): string[] => {
    if (kind.limit === 0) return [];
    if (tenant !== '') take('tenant', tenant, kind);
    const left = take('user', user, kind);
    return [
      'ratelimit-policy',
      `"${kind.name}";q=${kind.limit};w=${MINUTE_S}`,
      'ratelimit',
      `"${kind.name}";r=${left};t=${MINUTE_S}`,
    ];
  };
  return {
    count(contract, method, user, tenant) {
      counted(requests, user, tenant);
      if (!changes(contract, method)) return [];
      const ofChanges = counted(writes, user, tenant);
      return contract.rawBody === 'archive' ? counted(uploads, user, tenant) : ofChanges;
    },
  };
}

/** Removes full buckets. A bucket that was not used for a minute is full, and so is a new bucket. */
function dropFull(buckets: Map<string, Bucket>, nowMs: number): void {
  for (const [key, { atMs }] of buckets) if (nowMs - atMs > MINUTE_S * 1000) buckets.delete(key);
}
