/**
 * Downloads that users name: archives and imports. The address is resolved once, judged, and the connection is made to
 * exactly that address, so a name cannot point elsewhere between check and use; every redirect is judged again.
 */
import { lookup as dnsLookup } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { AppError } from '@baton/kernel';
import { failedFetch, refusedAddress } from './fetch-failure';
import { isPublicAddress } from './public-address';

export interface SafeFetchDeps {
  /** Which addresses may be connected to; default: public ones only. */
  isAllowed?: (address: string) => boolean;
  /** All addresses of a name. */
  resolve?: (hostname: string) => Promise<string[]>;
}

export interface FetchLimits {
  maxBytes: number;
  /** From the first lookup to the last byte, redirects included. */
  totalMs: number;
  field: string;
  /** Sent with the request. Redirects are not followed then: what identifies us is for the named address alone. */
  headers?: Record<string, string>;
}

export type SafeFetch = (
  url: string,
  limits: FetchLimits,
  signal?: AbortSignal,
) => Promise<AsyncIterable<Buffer>>;

const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

const resolveAll = (hostname: string): Promise<string[]> =>
  new Promise((resolve, reject) => {
    dnsLookup(hostname, { all: true, verbatim: true }, (error, found) =>
      error ? reject(error) : resolve(found.map((f) => f.address)),
    );
  });

function checkUrl(text: string, field: string, base?: URL): URL {
  let url: URL;
  try {
    url = new URL(text, base);
  } catch {
    throw refusedAddress(field);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refusedAddress(field);
  if (url.username !== '' || url.password !== '')
    throw refusedAddress(field, 'it must not hold a user or password');
  if (base?.protocol === 'https:' && url.protocol === 'http:')
    throw refusedAddress(field, 'a redirect leads from https to http');
  return url;
}

async function judgedAddress(url: URL, field: string, deps: Required<SafeFetchDeps>): Promise<string> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const addresses =
    isIP(host) > 0
      ? [host]
      : await deps.resolve(host).catch((error: unknown) => {
          throw failedFetch(field, error);
        });
  // One bad address among several is how rebinding begins.
  if (addresses.length === 0 || !addresses.every(deps.isAllowed)) throw refusedAddress(field);
  return addresses[0]!;
}

function request(
  url: URL,
  address: string,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<http.IncomingMessage> {
  const lookup: LookupFunction = (_name, options, done) => {
    const family = isIP(address);
    if (options.all) (done as unknown as (e: null, all: object[]) => void)(null, [{ address, family }]);
    else done(null, address, family);
  };
  return new Promise((resolve, reject) => {
    const client = url.protocol === 'https:' ? https : http;
    const sent = client.request(
      url,
      { lookup, signal, agent: false, headers: { 'user-agent': 'baton', accept: '*/*', ...headers } },
      resolve,
    );
    sent.on('error', reject);
    sent.end();
  });
}

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
 * A fetcher with `deps`. It answers the body of a 2xx answer.
 * @throws AppError bad_parameters_error naming the field; payload_too_large_error beyond the cap (while reading).
 */
export function createSafeFetch(given: SafeFetchDeps = {}): SafeFetch {
  const deps = { isAllowed: given.isAllowed ?? isPublicAddress, resolve: given.resolve ?? resolveAll };
  return async (text, limits, outer) => {
    const timeout = AbortSignal.timeout(limits.totalMs);
    const signal = outer ? AbortSignal.any([outer, timeout]) : timeout;
    let url = checkUrl(text, limits.field);
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      const address = await judgedAddress(url, limits.field, deps);
      const response = await request(url, address, limits.headers ?? {}, signal).catch((error: unknown) => {
        throw failedFetch(limits.field, error);
      });
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
