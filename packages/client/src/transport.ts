/** One HTTP exchange: credentials, time limit, retries of repeatable requests. */
import { backoffMs, Secret } from '@baton/kernel';
import { ApiError, readApiError } from './api-error';

export interface ClientOptions {
  /** Scheme, host and port: http://127.0.0.1:8080 */
  baseUrl: string;
  username?: string;
  password?: string | Secret;
  /** Used instead of user name and password. */
  token?: string | Secret;
  tenant?: string;
  /** Most attempts of a repeatable request, default 5. */
  tries?: number;
  fetch?: typeof fetch;
}

export interface Exchange {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: RequestInit['body'];
  tenant?: string;
  signal?: AbortSignal;
  timeoutMs: number;
  isRepeatable: boolean;
}

const RETRY = { firstMs: 100, maxMs: 3000, factor: 2, jitter: 0.3 };
/** Error codes of a failure on the way to a service; the same request may succeed a moment later. */
const TRANSIENT = new Set(['http_502', 'http_503', 'http_504', 'service_unavailable_error']);

const exposed = (value: string | Secret): string => (value instanceof Secret ? value.expose() : value);

/** Basic credentials in UTF-8. */
function basic(username: string, password: string): string {
  const bytes = new TextEncoder().encode(`${username}:${password}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}

function credentialHeaders(o: ClientOptions): Record<string, string> {
  if (o.token !== undefined) return { 'authentication-token': exposed(o.token) };
  if (o.username === undefined) return {};
  return { authorization: basic(o.username, exposed(o.password ?? '')) };
}

/** Waits; rejects with the reason of `signal` when it aborts first. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}

export type Send = (exchange: Exchange) => Promise<Response>;

function isTransient(error: unknown): boolean {
  // fetch reports a lost or refused connection as TypeError.
  return (
    (error as Error).name === 'TypeError' || (error instanceof ApiError && TRANSIENT.has(error.errorCode))
  );
}

/** Resolves to a success (2xx) response. The sender throws ApiError, or TypeError without a connection. */
export function createSender(o: ClientOptions): Send {
  const doFetch = o.fetch ?? fetch;
  const credentials = credentialHeaders(o);
  const once = async (exchange: Exchange): Promise<Response> => {
    const limit = AbortSignal.timeout(exchange.timeoutMs);
    const tenant = exchange.tenant ?? o.tenant;
    const response = await doFetch(exchange.url, {
      method: exchange.method,
      headers: { ...credentials, ...(tenant === undefined ? {} : { tenant }), ...exchange.headers },
      body: exchange.body,
      signal: exchange.signal ? AbortSignal.any([exchange.signal, limit]) : limit,
      // Node requires this for stream bodies; not all of its types declare it.
      ...({ duplex: 'half' } as object),
    });
    if (!response.ok) throw await readApiError(response);
    return response;
  };
  return async (exchange) => {
    const tries = exchange.isRepeatable ? (o.tries ?? 5) : 1;
    for (let attempt = 1; ; attempt++) {
      try {
        return await once(exchange);
      } catch (error) {
        if (attempt >= tries || exchange.signal?.aborted || !isTransient(error)) throw error;
        await pause(backoffMs(attempt, RETRY), exchange.signal);
      }
    }
  };
}
