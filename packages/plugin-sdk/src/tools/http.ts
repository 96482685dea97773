import { backoffMs, type Json } from '@baton/kernel';
import { FatalError, isMarkedError, RetryableError } from '../errors';
import { clockWith } from './clock';
import { follow } from './http-follow';
import type { Call, Http, HttpAnswer, HttpOptions } from './http-options';
import { addressOf, answerOf, headersOf, retryAfterMs, shownUrl } from './http-parts';
import { proxyOf } from './http-proxy';
import { type Sending, sendByNode } from './http-send';
import { requireReadable } from './http-tls';

const TIMEOUT_MS = 30_000;
const RETRIES = 2;
/** Longer waits are left to the engine, which gives the place at the worker back. */
const LONGEST_WAIT_MS = 10_000;
const BACKOFF = { firstMs: 250, maxMs: LONGEST_WAIT_MS, factor: 2, jitter: 0.3 };
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const SHOWN_CHARACTERS = 300;

const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);
/** The server did not begin with the request. */
const NOT_BEGUN = new Set([425, 429]);
/** Nothing is wrong with the request. */
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Makes `http` with options that every call has. */
export function httpWith(defaults: HttpOptions): Http {
  const call =
    (method: string): Call =>
    async (url, options = {}) => {
      const all = merged(defaults, options);
      return contentOf(await exchange(method, url, all, judge), all) as never;
    };
  return {
    get: call('GET'),
    post: call('POST'),
    put: call('PUT'),
    patch: call('PATCH'),
    delete: call('DELETE'),
    request: async (method, url, options = {}) =>
      await exchange(methodOf(method), url, merged(defaults, options), () => null),
    with: (options) => httpWith(merged(defaults, options)),
  };
}

/**
 * Requests over HTTP. Failures that may pass are tried again: a lost connection or an answer 5xx for methods that may be repeated
 * (GET, PUT, DELETE), and 425 or 429 for all. Addresses in errors have no query and no credentials. Redirects are followed; another
 * server gets no credentials then.
 * @throws RetryableError (its members) when a failure that may pass has not passed
 * @throws FatalError for all other answers that are no success
 */
export const http: Http = httpWith({});

const merged = (a: HttpOptions, b: HttpOptions): HttpOptions => ({
  ...a,
  ...b,
  headers: { ...a.headers, ...b.headers },
});

/** A failure, and whether another try may help. */
interface Failure {
  error: Error;
  mayRepeat: boolean;
  /** Wait that the server asks for. */
  waitMs?: number;
}

type Judge = (answer: HttpAnswer, method: string, name: string, options: HttpOptions) => Failure | null;

async function exchange(
  method: string,
  address: string,
  options: HttpOptions,
  judged: Judge,
): Promise<HttpAnswer> {
  const { retries = RETRIES, signal } = options;
  const sending = sendingOf(method, address, options);
  const name = `${method} ${shownUrl(sending.url)}`;
  for (let attempt = 1; ; attempt++) {
    const found = await once(sending, name, options);
    const failure = 'error' in found ? found : judged(found, method, name, options);
    if (failure === null) return found as HttpAnswer;
    if (signal?.aborted) throw new RetryableError(`${name}: the operation is stopped`);
    const delayMs = failure.waitMs ?? backoffMs(attempt, BACKOFF);
    if (!failure.mayRepeat || attempt > retries || delayMs > LONGEST_WAIT_MS) throw failure.error;
    await (options.clock ?? clockWith(signal)).sleep(delayMs);
  }
}

/** A request without its signal. @throws FatalError for wrong options */
function sendingOf(method: string, address: string, options: HttpOptions): Omit<Sending, 'signal'> {
  const { json, body, tls, proxy } = options;
  if (tls !== undefined) requireReadable(tls);
  if (proxy !== undefined) proxyOf(proxy);
  const content = json === undefined ? body : JSON.stringify(json);
  return {
    method,
    url: addressOf(address, options),
    headers: headersOf(options),
    ...(content === undefined ? {} : { body: content }),
    ...(tls === undefined ? {} : { tls }),
    ...(proxy === undefined ? {} : { proxy }),
  };
}

async function once(
  sending: Omit<Sending, 'signal'>,
  name: string,
  { timeoutMs = TIMEOUT_MS, maxBytes = MAX_ANSWER_BYTES, signal, send = sendByNode, redirects }: HttpOptions,
): Promise<HttpAnswer | Failure> {
  const limit = AbortSignal.timeout(timeoutMs);
  const stop = signal === undefined ? limit : AbortSignal.any([limit, signal]);
  try {
    return await answerOf(await follow({ ...sending, signal: stop }, send, redirects), maxBytes, name);
  } catch (cause) {
    if (isMarkedError(cause)) throw cause;
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code !== undefined && isLasting(code)) throw new FatalError(`${name}: ${message}`, { cause });
    const why = limit.aborted ? `no answer within ${timeoutMs / 1000} s` : message || code;
    const error = new RetryableError(`${name}: ${why}`, { cause });
    return { error, mayRepeat: IDEMPOTENT.has(sending.method) };
  }
}

/** Whether a failure stays: a certificate that is not believed, or a header with characters that cannot be sent. */
const isLasting = (code: string): boolean =>
  /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|^ERR_INVALID_|^ERR_UNESCAPED/.test(code);

const judge: Judge = ({ status, text, headers }, method, name, { missingOk = false }) => {
  if (status >= 200 && status < 300) return null;
  if (missingOk && (status === 404 || status === 410)) return null;
  const message = `${name} answered ${status}${text === '' ? '' : `: ${text.slice(0, SHOWN_CHARACTERS)}`}`;
  if (!PASSING.has(status)) return { error: new FatalError(message), mayRepeat: false };
  const waitMs = retryAfterMs(headers['retry-after']);
  const retryAfter = waitMs === undefined ? null : Math.ceil(waitMs / 1000);
  const mayRepeat = IDEMPOTENT.has(method) || NOT_BEGUN.has(status);
  return { error: new RetryableError(message, { retryAfter }), waitMs, mayRepeat };
};

function contentOf({ status, text, headers, json }: HttpAnswer, { missingOk }: HttpOptions): Json {
  if (text === '' || (missingOk && (status === 404 || status === 410))) return null;
  return /[/+]json\b/.test(headers['content-type'] ?? '') ? json() : text;
}

function methodOf(method: string): string {
  const name = String(method).toUpperCase();
  if (!/^[A-Z]{1,20}$/.test(name)) throw new FatalError('http: method: expected a name such as GET or POST');
  return name;
}
