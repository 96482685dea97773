import { afterDelay, backoffMs, type Json } from '@baton/kernel';
import { FatalError, RetryableError } from '../errors';
import { retryAfterMs, shownUrl, textWithin } from './http-parts';

export interface HttpOptions {
  signal?: AbortSignal;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as it is; only without `json`. */
  body?: string | Uint8Array;
  headers?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string | number | boolean>>;
  /** A token for the header `Authorization: Bearer`. */
  auth?: string;
  /** Begin of addresses that have no scheme. */
  baseUrl?: string;
  /** The answers 404 and 410 give null instead of an error. */
  missingOk?: boolean;
  /** For one try. Default: 30 s. */
  timeoutMs?: number;
  /** Tries after the first one. Default: 2. */
  retries?: number;
  /** Default: the fetch of Node.js. */
  fetch?: typeof fetch;
}

/** `T`: the expected answer. Check it, with a schema of zod for instance: another program made it. */
type Call = <T = unknown>(url: string, options?: HttpOptions) => Promise<T>;

/** Answers are parsed JSON, or text where the type of the content is another one; null: no content, or missing. */
export interface Http {
  get: Call;
  post: Call;
  put: Call;
  patch: Call;
  delete: Call;
  /** Makes `http` with options that every call has, for instance baseUrl and auth. */
  with(options: HttpOptions): Http;
}

const TIMEOUT_MS = 30_000;
const RETRIES = 2;
/** Longer waits are left to the engine, which gives the place at the worker back. */
const LONGEST_WAIT_MS = 10_000;
const BACKOFF = { firstMs: 250, maxMs: LONGEST_WAIT_MS, factor: 2, jitter: 0.3 };
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const SHOWN_CHARACTERS = 300;

const IDEMPOTENT = new Set(['GET', 'PUT', 'DELETE']);
/** The server did not begin with the request. */
const NOT_BEGUN = new Set([425, 429]);
/** Nothing is wrong with the request. */
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Makes `http` with options that every call has. */
export function httpWith(defaults: HttpOptions): Http {
  const call =
    (method: string): Call =>
    async (url, options = {}) =>
      (await request(method, url, merged(defaults, options))) as never;
  return {
    get: call('GET'),
    post: call('POST'),
    put: call('PUT'),
    patch: call('PATCH'),
    delete: call('DELETE'),
    with: (options) => httpWith(merged(defaults, options)),
  };
}

/**
 * Requests over HTTP. Failures that may pass are tried again: a lost connection or an answer 5xx for methods that may be repeated
 * (GET, PUT, DELETE), and 425 or 429 for all. Addresses in errors have no query and no credentials.
 * @throws RetryableError (its members) when a failure that may pass has not passed
 * @throws FatalError for all other answers that are no success
 */
export const http: Http = httpWith({});

const merged = (a: HttpOptions, b: HttpOptions): HttpOptions => ({
  ...a,
  ...b,
  headers: { ...a.headers, ...b.headers },
});

async function request(method: string, address: string, options: HttpOptions): Promise<Json> {
  const url = addressOf(address, options);
  const name = `${method} ${shownUrl(url)}`;
  const { retries = RETRIES, signal } = options;
  for (let attempt = 1; ; attempt++) {
    const { answer, failure, waitMs, mayRepeat } = await once(method, url, name, options);
    if (failure === null) return answer;
    if (signal?.aborted) throw new RetryableError(`${name}: the operation is stopped`);
    const delayMs = waitMs ?? backoffMs(attempt, BACKOFF);
    if (!mayRepeat || attempt > retries || delayMs > LONGEST_WAIT_MS) throw failure;
    await pause(delayMs, signal);
  }
}

interface Try {
  answer: Json;
  failure: Error | null;
  /** Wait that the server asks for. */
  waitMs?: number;
  mayRepeat: boolean;
}

async function once(method: string, url: URL, name: string, options: HttpOptions): Promise<Try> {
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  const signals = [AbortSignal.timeout(timeoutMs), ...(options.signal ? [options.signal] : [])];
  try {
    const response = await (options.fetch ?? fetch)(url, {
      method,
      signal: AbortSignal.any(signals),
      headers: headersOf(options),
      body: (options.json === undefined ? options.body : JSON.stringify(options.json)) as never,
    });
    return await readAnswer(response, method, name, options.missingOk ?? false);
  } catch (cause) {
    if (cause instanceof FatalError) throw cause;
    const { name: kind, message, cause: inner } = cause as Error;
    const why =
      kind === 'TimeoutError'
        ? `no answer within ${timeoutMs / 1000} s`
        : ((inner as Error)?.message ?? message);
    const failure = new RetryableError(`${name}: ${why}`, { cause });
    return { answer: null, failure, mayRepeat: IDEMPOTENT.has(method) };
  }
}

async function readAnswer(
  response: Response,
  method: string,
  name: string,
  missingOk: boolean,
): Promise<Try> {
  const { status } = response;
  const text = await textWithin(response, MAX_ANSWER_BYTES, name);
  if (response.ok) return { answer: contentOf(response, text, name), failure: null, mayRepeat: false };
  if (missingOk && (status === 404 || status === 410))
    return { answer: null, failure: null, mayRepeat: false };
  const message = `${name} answered ${status}${text === '' ? '' : `: ${text.slice(0, SHOWN_CHARACTERS)}`}`;
  if (!PASSING.has(status)) return { answer: null, failure: new FatalError(message), mayRepeat: false };
  const waitMs = retryAfterMs(response.headers.get('retry-after'));
  const retryAfter = waitMs === undefined ? null : Math.ceil(waitMs / 1000);
  const mayRepeat = IDEMPOTENT.has(method) || NOT_BEGUN.has(status);
  return { answer: null, failure: new RetryableError(message, { retryAfter }), waitMs, mayRepeat };
}

function contentOf(response: Response, text: string, name: string): Json {
  if (text === '') return null;
  if (!/[/+]json\b/.test(response.headers.get('content-type') ?? '')) return text;
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    throw new FatalError(`${name} answered JSON that cannot be read`, { cause });
  }
}

function addressOf(address: string, { baseUrl, query = {} }: HttpOptions): URL {
  const isWhole = /^[a-z][a-z0-9+.-]*:/i.test(address);
  const text =
    isWhole || baseUrl === undefined
      ? address
      : `${baseUrl.replace(/\/$/, '')}/${address.replace(/^\//, '')}`;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new FatalError('http: expected an address that begins with http:// or https://, or a baseUrl');
  if (url.username !== '' || url.password !== '')
    throw new FatalError('http: the address holds credentials: give them as auth, or as a header');
  for (const [name, value] of Object.entries(query)) url.searchParams.append(name, String(value));
  return url;
}

function headersOf({ json, auth, headers }: HttpOptions): Record<string, string> {
  return {
    accept: 'application/json',
    ...(json === undefined ? {} : { 'content-type': 'application/json' }),
    ...(auth === undefined ? {} : { authorization: `Bearer ${auth}` }),
    ...headers,
  };
}

function pause(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const cancel = afterDelay(delayMs, end);
    signal?.addEventListener('abort', end);
  });
}
