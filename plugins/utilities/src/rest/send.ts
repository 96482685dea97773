import {
  FatalError,
  type HttpAnswer,
  isMarkedError,
  operationErrorMark,
  RetryableError,
} from '@baton/plugin-sdk';
import { type Call, hostsOf } from './call';
import { contentOf } from './content';
import type { RestScope } from './scope';
import { proxyOf, tlsOf } from './tls';

/** How a call is sent, beside what its template says. */
export interface SendOptions {
  /** Answers with these codes say that the thing is gone. */
  missingCodes?: readonly number[];
  /** Headers that the template does not name. */
  headers?: Readonly<Record<string, string>>;
}

/** An answer that says that the thing is gone. */
export class GoneError extends FatalError {}

const DEFAULT_TIMEOUT_S = 300;
const SHOWN_CHARACTERS = 300;

/**
 * Sends a call to the first of its hosts that answers.
 * @throws RetryableError for a code of `recoverable_codes`, and with `retry_on_connection_error` when no host answers
 * @throws GoneError for a code of `missingCodes`
 * @throws FatalError for all other codes from 400, unless `successful_codes` has them, and when no host answers
 */
export async function send(scope: RestScope, call: Call, options: SendOptions = {}): Promise<HttpAnswer> {
  const { content, query } = await contentOf(scope, call);
  const tls = call.ssl ? await tlsOf(scope, call) : undefined;
  const request = {
    headers: headersOf(call, { ...options.headers, ...content.headers }),
    body: content.body,
    query,
    tls,
    proxy: proxyOf(call),
    basic: call.auth ?? undefined,
    timeoutMs: secondsOf(call.timeout) * 1000,
    retries: 0,
  };
  const method = call.method.toUpperCase();
  const hosts = hostsOf(call);
  for (const [i, host] of hosts.entries()) {
    const url = urlOf(call, host);
    try {
      const answer = await scope.http.request(method, url, request);
      scope.log.info(`${nameOf(method, url)} answered ${answer.status}`);
      return judged(answer, call, nameOf(method, url), options);
    } catch (error) {
      if (!isLost(error) || scope.signal.aborted) throw error;
      if (i < hosts.length - 1) scope.log.warning(`${error.message}; the next host is tried`);
      else if (call.retry_on_connection_error) throw error;
      else
        throw new FatalError(
          `${error.message}; with retry_on_connection_error the operation would be tried again`,
          { cause: error },
        );
    }
  }
  throw new FatalError('no host');
}

/** An answer that refuses the request is thrown with another mark, and not taken for a lost connection. */
class RefusedError extends RetryableError {}

const isLost = (error: unknown): error is Error =>
  isMarkedError(error) && error[operationErrorMark] === 'retryable' && !(error instanceof RefusedError);

function judged(
  answer: HttpAnswer,
  call: Call,
  name: string,
  { missingCodes = [] }: SendOptions,
): HttpAnswer {
  const { status } = answer;
  if (missingCodes.includes(status)) throw new GoneError(`${name} answered ${status}`);
  if (status < 400 || call.successful_codes.includes(status)) return answer;
  const text = answer.text.trim();
  const why = text === '' ? '' : `: ${text.slice(0, SHOWN_CHARACTERS)}`;
  if (call.recoverable_codes.includes(status))
    throw new RefusedError(`${name}: response code ${status} is defined as recoverable${why}`);
  throw new FatalError(`${name} answered ${status}${why}`);
}

/** The address without its query, which may hold secrets. */
const nameOf = (method: string, url: string): string => `${method} ${url.replace(/[?#].*$/s, '')}`;

function urlOf({ ssl, port, path }: Call, host: string): string {
  const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  if (/[/?#@\s]/.test(name))
    throw new FatalError(`the host ${JSON.stringify(host)} is no name and no address`);
  // An id of a server must not lead to another place, with the credentials of this one.
  const segments = path.replace(/[?#].*$/s, '').split(/[/\\]/);
  if (segments.some((one) => /^(\.|%2e){1,2}$/i.test(one)))
    throw new FatalError('path: a part of it is . or ..; expected names');
  const shownPort = port === -1 ? (ssl ? 443 : 80) : port;
  return `${ssl ? 'https' : 'http'}://${name}:${shownPort}${path.startsWith('/') ? '' : '/'}${path}`;
}

const secondsOf = (timeout: Call['timeout']): number =>
  Array.isArray(timeout) ? timeout.reduce((sum, one) => sum + one, 0) : (timeout ?? DEFAULT_TIMEOUT_S);

/** Headers of the template go before others of the same name in any case. */
function headersOf({ headers }: Call, others: Readonly<Record<string, string>>): Record<string, string> {
  const own = Object.entries(headers).filter(([, value]) => value !== null);
  const named = new Set(own.map(([name]) => name.toLowerCase()));
  const further = Object.entries({ accept: '*/*', ...others }).filter(
    ([name]) => !named.has(name.toLowerCase()),
  );
  return Object.fromEntries([
    ...further,
    ...own.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  ]) as Record<string, string>;
}
