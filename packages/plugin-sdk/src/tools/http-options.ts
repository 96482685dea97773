import type { Json } from '@baton/kernel';
import type { OperationClock } from './clock';
import type { Send } from './http-send';
import type { TlsOptions } from './http-tls';

export interface HttpOptions {
  signal?: AbortSignal;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as it is; only without `json`. Say its kind in the header `content-type`. */
  body?: string | Uint8Array;
  headers?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string | number | boolean>>;
  /** A token for the header `Authorization: Bearer`. */
  auth?: string;
  /** Name and password for the header `Authorization: Basic`. */
  basic?: { user: string; password: string };
  tls?: TlsOptions;
  /** Address of a proxy: `http://host:port`, also with `user:password@`. */
  proxy?: string;
  /** Most redirects that are followed. Default: 10. 0: none. */
  redirects?: number;
  /** Begin of addresses that have no scheme. */
  baseUrl?: string;
  /** The answers 404 and 410 give null instead of an error. Not for `request`. */
  missingOk?: boolean;
  /** For one try, with its redirects. Default: 30 s. */
  timeoutMs?: number;
  /** Tries after the first one. Default: 2. */
  retries?: number;
  /** Longest answer, after it was unpacked. Default: 16 MiB. */
  maxBytes?: number;
  /** Waits between tries. Default: the clock of the machine. */
  clock?: OperationClock;
  /** Sends one request. Default: by the HTTP of Node.js. */
  send?: Send;
}

/** An answer of any status. */
export interface HttpAnswer {
  readonly status: number;
  /** By names in small letters. Values of a header that is there several times are joined with `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** Values that `set-cookie` gives, by name. */
  readonly cookies: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  /** The body as UTF-8. */
  readonly text: string;
  /** @throws FatalError when the body is no JSON */
  json(): Json;
}

/** `T`: the expected answer. Check it, with a schema of zod for instance: another program made it. */
export type Call = <T = unknown>(url: string, options?: HttpOptions) => Promise<T>;

/** Answers are parsed JSON, or text where the type of the content is another one; null: no content, or missing. */
export interface Http {
  get: Call;
  post: Call;
  put: Call;
  patch: Call;
  delete: Call;
  /**
   * The whole answer, whatever its status says. Lost connections are tried again as for the other calls, answers are not.
   * @throws RetryableError when no answer came
   * @throws FatalError for a wrong address or option, an answer that is too long, and a server whose certificate is not believed
   */
  request(method: string, url: string, options?: HttpOptions): Promise<HttpAnswer>;
  /** Makes `http` with options that every call has, for instance baseUrl and auth. */
  with(options: HttpOptions): Http;
}
