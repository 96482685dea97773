/**
 * Downloads from addresses that users name: archives and imports. The host name is resolved once and checked, and the connection is
 * made to exactly that IP address. So a name cannot point elsewhere between check and use. Every redirect is checked again.
 */
import type http from 'node:http';
import { AppError } from '@baton/kernel';
import { failedFetch } from './fetch-failure';
import { checkUrl, judgedAddress, pinnedRequest, type SafeFetchDeps } from './pinned-request';

export interface FetchLimits {
  maxBytes: number;
  /** Limit of the whole download, from the first lookup to the last byte, redirects included. */
  totalMs: number;
  field: string;
  /** Sent with the request. Redirects are not followed then: our credentials are only for the named address. */
  headers?: Record<string, string>;
}

export type SafeFetch = (
  url: string,
  limits: FetchLimits,
  signal?: AbortSignal,
) => Promise<AsyncIterable<Buffer>>;

const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

async function* body(response: http.IncomingMessage, limits: FetchLimits): AsyncGenerator<Buffer> {
  let size = 0;
  try {
    for await (const chunk of response) {
      size += (chunk as Buffer).length;
      if (size > limits.maxBytes) {
        throw new AppError(
          'payload_too_large_error',
          `The download is larger than ${limits.maxBytes} bytes`,
          {
            field: limits.field,
            expected: `at most ${limits.maxBytes} bytes`,
            reason: `it is larger than ${limits.maxBytes} bytes`,
          },
        );
      }
      yield chunk as Buffer;
    }
  } catch (error) {
    throw error instanceof AppError
      ? error
      : failedFetch(limits.field, error, 'the download broke off or took too long');
  } finally {
    response.destroy();
  }
}

/**
 * Creates a fetcher, which returns the body of a 2xx answer.
 * @throws AppError bad_parameters_error naming the field; payload_too_large_error beyond the cap (while reading).
 */
export function createSafeFetch(rules: SafeFetchDeps = {}): SafeFetch {
  return async (text, limits, outer) => {
    const timeout = AbortSignal.timeout(limits.totalMs);
    const signal = outer ? AbortSignal.any([outer, timeout]) : timeout;
    let url = checkUrl(text, limits.field);
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      const address = await judgedAddress(url, limits.field, rules);
      const response = await pinnedRequest({ url, address, headers: limits.headers ?? {}, signal }).catch(
        (error: unknown) => {
          throw failedFetch(limits.field, error);
        },
      );
      const status = response.statusCode ?? 0;
      if (status >= 200 && status < 300) return body(response, limits);
      response.destroy();
      const next = response.headers.location;
      if (!REDIRECTS.has(status) || next === undefined || limits.headers !== undefined)
        throw failedFetch(limits.field, undefined, `the server answered ${status}`);
      url = checkUrl(next, limits.field, url);
    }
    throw failedFetch(limits.field, undefined, `more than ${MAX_REDIRECTS} redirects`);
  };
}
