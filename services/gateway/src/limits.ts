/** How much one gateway takes on. */
import type { Cache } from '@baton/cache';
import type { RouteContract } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import { tooLarge } from './limit-body';
import type { RequestHeaders } from './request-headers';

export interface LimitSettings {
  /** Requests at the same time, event streams not counted. */
  maxConcurrent: number;
  maxStreams: number;
  /** Bytes of JSON and text bodies, and of archives. */
  maxBodyBytes: number;
  maxUploadBytes: number;
  /** Requests of one client a minute; 0: not counted. */
  ratePerMinute: number;
}

const MINUTE_MS = 60_000;

export interface Room {
  /** The function gives the place back. @throws AppError service_unavailable_error when there is no room. */
  enter(isStream: boolean, isChange?: boolean): () => void;
  /** Requests in the house. */
  count(): number;
  /** Those of them that may change something. */
  changes(): number;
}

export function createRoom({ maxConcurrent, maxStreams }: LimitSettings): Room {
  let requests = 0;
  let streams = 0;
  let changes = 0;
  return {
    enter(isStream, isChange = false) {
      if (isStream ? streams >= maxStreams : requests >= maxConcurrent) {
        throw new AppError(
          'service_unavailable_error',
          'The manager has too many requests at once; try again in a second',
        );
      }
      if (isStream) streams += 1;
      else requests += 1;
      if (isChange) changes += 1;
      let isInside = true;
      return () => {
        if (!isInside) return;
        isInside = false;
        if (isStream) streams -= 1;
        else requests -= 1;
        if (isChange) changes -= 1;
      };
    },
    count: () => requests + streams,
    changes: () => changes,
  };
}

/** Most bytes of a body for this route. */
export function bodyLimit(contract: RouteContract, settings: LimitSettings): number {
  return contract.rawBody === 'archive' ? settings.maxUploadBytes : settings.maxBodyBytes;
}

/** @throws AppError payload_too_large_error by what the request announces. */
export function checkAnnouncedLength(headers: RequestHeaders, limit: number): void {
  if (headers.contentLength > limit) throw tooLarge(limit);
}

/**
 * Counts a request of `client` over all gateways, in the cache; without the cache nothing is refused.
 * @throws AppError too_many_requests_error
 */
export async function countRequest(
  cache: Cache,
  client: string,
  settings: LimitSettings,
  nowMs: number,
): Promise<void> {
  const key = `rate:${Math.floor(nowMs / MINUTE_MS)}:${client}`;
  const count = await cache.increment(key, MINUTE_MS);
  if (count > settings.ratePerMinute) {
    throw new AppError(
      'too_many_requests_error',
      `More than ${settings.ratePerMinute} requests in a minute`,
      {
        expected: `at most ${settings.ratePerMinute} requests a minute`,
      },
    );
  }
}
