/** Limit on the requests a minute of one tenant, over all gateways that share a cache. */
import type { Cache } from '@baton/cache';
import { type Principal, quotaReached, requestsKey } from '@baton/contracts';
import type { Clock } from '@baton/kernel';
import type { TenantLimitsSource } from '@baton/service-runtime';

const MINUTE_MS = 60_000;
/** A counter is kept longer than its minute: the clocks of gateways differ. */
const KEPT_MS = 2 * MINUTE_MS;

/**
 * Counts a request for its tenant if the tenant has a quota; without a quota nothing is stored. Minutes begin with the minutes of
 * the clock, so that every gateway uses the same counter. Administrators are not counted: the administrator who raises a limit must
 * get in. When the cache does not answer, no request is refused. Returns headers [name, value, ...] with the remaining requests;
 * undefined when nothing was counted.
 * @throws AppError too_many_requests_error
 */
export function createTenantRequests(
  limits: Pick<TenantLimitsSource, 'of'>,
  cache: Cache,
  clock: Clock,
): (principal: Principal) => Promise<string[]> | undefined {
  const count = async (tenant: string, limit: number): Promise<string[]> => {
    const nowMs = clock.now();
    const used = await cache.increment(requestsKey(tenant, nowMs), KEPT_MS);
    const leftS = Math.max(1, Math.ceil((MINUTE_MS - (nowMs % MINUTE_MS)) / 1000));
    if (used <= limit) {
      const said = (rest: string) => `"tenant-requests";${rest}`;
      return ['ratelimit-policy', said(`q=${limit};w=60`), 'ratelimit', said(`r=${limit - used};t=${leftS}`)];
    }
    throw quotaReached({
      quota: 'max_requests_per_minute',
      tenant,
      limit,
      usage: used - 1,
      what: 'requests in a minute',
      remedy: 'ask again in the next one',
      retryAfterS: leftS,
    });
  };
  return ({ tenant, role, isBootstrapAdmin }) => {
    if (tenant === '') return undefined;
    const limit = limits.of(tenant).requestsPerMinute;
    if (limit === null || isBootstrapAdmin || role === 'sys_admin') return undefined;
    return count(tenant, limit);
  };
}
