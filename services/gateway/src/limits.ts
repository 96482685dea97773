/** Limits of one gateway: sizes of bodies, and requests of one address a minute. */
import type { Cache } from '@baton/cache';
import type { RouteContract } from '@baton/contracts';
import { tooLarge } from './limit-body';
import type { RequestHeaders } from './request-headers';
import { SIGN_IN_BYTES } from './sign-in-body';
import { tooMany } from './too-many';

export interface LimitSettings {
  /** Most bytes of a JSON or text body; `maxUploadBytes`: most bytes of an archive. */
  maxBodyBytes: number;
  maxUploadBytes: number;
  /** Requests of one address a minute, over all gateways; 0: not counted. */
  ratePerMinute: number;
}

const MINUTE_MS = 60_000;

/** Returns the most bytes that a body may have on this route. */
export function bodyLimit(contract: RouteContract, settings: LimitSettings): number {
  if (contract.session === 'opens') return SIGN_IN_BYTES;
  return contract.rawBody === 'archive' ? settings.maxUploadBytes : settings.maxBodyBytes;
}

/** Compares the announced length with the limit. @throws AppError payload_too_large_error */
export function checkAnnouncedLength(headers: RequestHeaders, limit: number): void {
  if (headers.contentLength > limit) throw tooLarge(limit);
}

/**
 * Counts a request of `address` over all gateways, in the cache. Without the cache no request is refused.
 * @throws AppError too_many_requests_error
 */
export async function countRequest(
  cache: Cache,
  address: string,
  settings: LimitSettings,
  nowMs: number,
): Promise<void> {
  const key = `rate:${Math.floor(nowMs / MINUTE_MS)}:${address}`;
  const count = await cache.increment(key, MINUTE_MS);
  if (count > settings.ratePerMinute) {
    const retryAfterS = Math.ceil((MINUTE_MS - (nowMs % MINUTE_MS)) / 1000);
    throw tooMany({
      scope: 'address',
      limit: settings.ratePerMinute,
      what: 'requests in a minute',
      retryAfterS,
    });
  }
}
