/** Sends small documents to addresses that users name (webhooks), with the address check of pinned-request.ts. */
import type http from 'node:http';
import { isAppError } from '@baton/kernel';
import { failedFetch } from './fetch-failure';
import { checkUrl, judgedAddress, pinnedRequest, type SafeFetchDeps } from './pinned-request';

export interface SafePostRequest {
  url: string;
  /** Named in errors. */
  field: string;
  headers: Record<string, string>;
  body: Buffer;
  /** Limit of the whole exchange, from the lookup to the last byte of the answer. */
  totalMs: number;
  /** The answer is read up to this many bytes; the connection is closed then. */
  maxReadBytes: number;
  /** Bytes of the answer that are returned. */
  keptBytes: number;
}

export interface PostAnswer {
  status: number;
  headers: http.IncomingHttpHeaders;
  /** Beginning of the body, as UTF-8. */
  text: string;
}

/**
 * Resolves for every complete answer, whatever its status; redirects are answers and are not followed.
 * @throws AppError bad_parameters_error with details {field, reason} for a refused address, a failed connection, an answer that
 * broke off and the end of the time.
 */
export type SafePost = (request: SafePostRequest, signal?: AbortSignal) => Promise<PostAnswer>;

export function createSafePost(rules: SafeFetchDeps = {}): SafePost {
  return async (request, outer) => {
    const timeout = AbortSignal.timeout(request.totalMs);
    const signal = outer ? AbortSignal.any([outer, timeout]) : timeout;
    const url = checkUrl(request.url, request.field);
    try {
      const address = await withinTime(judgedAddress(url, request.field, rules), signal);
      const headers = { ...request.headers, 'content-length': request.body.length };
      const response = await pinnedRequest({
        url,
        address,
        headers,
        signal,
        method: 'POST',
        body: request.body,
      });
      const text = await beginning(response, request);
      return { status: response.statusCode ?? 0, headers: response.headers, text };
    } catch (error) {
      if (isAppError(error)) throw error;
      throw failedFetch(request.field, signal.aborted ? signal.reason : error);
    }
  };
}

/** A lookup cannot be aborted: it is left to itself when the time is over. */
function withinTime<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const over = (): void => reject(signal.reason);
    signal.addEventListener('abort', over, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', over));
  });
}

async function beginning(
  response: http.IncomingMessage,
  { maxReadBytes, keptBytes }: SafePostRequest,
): Promise<string> {
  const kept: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      if (size < keptBytes) kept.push(chunk.subarray(0, keptBytes - size));
      size += chunk.length;
      if (size >= maxReadBytes) break;
    }
  } finally {
    response.destroy();
  }
  return Buffer.concat(kept).toString('utf8');
}
