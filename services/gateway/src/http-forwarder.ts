/**
 * Forwarding over HTTP: raw headers in and out, chunks handed on as they come, in both directions, with back-pressure. Short
 * reads go through plain-reads.ts, everything else through undici's dispatcher. What was measured:
 * docs/adr/0005-gateway-forwarding.md.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { ServiceName } from '@baton/contracts';
import { AppError, type Log } from '@baton/kernel';
import { type Dispatcher, errors, Pool } from 'undici';
import type { Forwarder, ForwardRequest } from './forward';
import { limitBody, tooLarge } from './limit-body';
import { createPlainReads, type PlainAnswer, type PlainReads } from './plain-reads';
import { createServiceWatch, type ServiceWatch } from './service-watch';

/** Synchronous calls of the API may take 300 s; the gateway waits a little longer than the service. */
const ANSWER_MS = 310_000;
const CONNECT_MS = 2_000;
/**
 * Idle connections go soon. A new one costs next to nothing; an unused one (undici opens one for each request that a
 * client gave up) keeps a service from stopping, because node:http does not count it as idle.
 */
const KEEP_ALIVE_MS = 1_000;
/** Short requests of one service at the same time; more wait in line. */
const CONNECTIONS = 128;

/** Of one connection, or set by the gateway itself. */
const NOT_COPIED = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'x-request-id']);

export interface HttpForwarderOptions {
  /** Origin of each service: http://host:port. */
  origins: Partial<Record<ServiceName, string>>;
  log: Log;
}

interface Pools {
  short: Pool;
  /** Event streams and transfers: they must not use up the connections of the short ones. */
  long: Pool;
  reads: PlainReads;
  watch: ServiceWatch;
}

export function createHttpForwarder({ origins, log }: HttpForwarderOptions): Forwarder {
  const pools = new Map<ServiceName, Pools>();
  const open = (origin: string, connections: number | null): Pool =>
    new Pool(origin, {
      connections,
      pipelining: 1,
      headersTimeout: ANSWER_MS,
      bodyTimeout: ANSWER_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      connect: { timeout: CONNECT_MS },
    });
  for (const [service, origin] of Object.entries(origins)) {
    pools.set(service as ServiceName, {
      short: open(origin, CONNECTIONS),
      long: open(origin, null),
      reads: createPlainReads({
        origin,
        connections: CONNECTIONS,
        connectMs: CONNECT_MS,
        answerMs: ANSWER_MS,
        idleMs: KEEP_ALIVE_MS,
      }),
      watch: createServiceWatch({ origin, service, log }),
    });
  }
  return {
    forward(request, incoming, response, fail) {
      const pair = pools.get(request.service);
      if (!pair || pair.watch.isAway()) return fail(unavailable(request.service));
      const pool = request.isLong ? pair.long : pair.short;
      // Transfers may be silent for long; whoever waits for a short answer is told when none will come.
      const watch = request.isLong ? null : pair.watch;
      const isPlain = !request.isLong && request.body === 'none' && request.method === 'GET';
      const reads = isPlain ? pair.reads : null;
      send({ pool, reads, request, incoming, response, fail, log, watch }, request.body === 'none');
    },
    close: async () => {
      // `close` would wait for event streams, which end only with their clients.
      for (const { watch, reads } of pools.values()) {
        watch.close();
        reads.close();
      }
      await Promise.all([...pools.values()].flatMap(({ short, long }) => [short.close(), long.destroy()]));
    },
  };
}

interface Exchange {
  pool: Pool;
  /** Where the request is a short read. */
  reads: PlainReads | null;
  request: ForwardRequest;
  incoming: IncomingMessage;
  response: ServerResponse;
  fail: (error: AppError) => void;
  log: Log;
  watch: ServiceWatch | null;
}

function send(exchange: Exchange, mayRetry: boolean): void {
  const { reads, response } = exchange;
  const { method } = exchange.request;
  const answer = new AnswerWriter(exchange, mayRetry && (method === 'GET' || method === 'HEAD'));
  if (reads) answer.ask(reads);
  else dispatch(exchange, answer);
  response.once('close', answer.clientLeft);
}

function dispatch({ pool, request, incoming }: Exchange, answer: AnswerWriter): void {
  pool.dispatch(
    {
      path: request.url,
      method: request.method as Dispatcher.HttpMethod,
      headers: request.headers,
      body:
        request.body === 'none'
          ? null
          : request.body === 'sized'
            ? incoming
            : Readable.from(limitBody(incoming, request.maxBodyBytes)),
      ...(request.isLong ? { bodyTimeout: 0 } : {}),
    },
    answer,
  );
}

/** Copies one answer. The callbacks of the old handler style are what undici calls itself; the new ones wrap them. */
class AnswerWriter implements Dispatcher.DispatchHandler, PlainAnswer {
  #abort: ((error?: Error) => void) | undefined;
  #resume: (() => void) | undefined;
  #isGone = false;
  #isGivenUp = false;
  readonly #leave: (() => void) | undefined;

  constructor(
    private readonly exchange: Exchange,
    private readonly mayRetry: boolean,
  ) {
    this.#leave = exchange.watch?.enter(() => {
      this.#isGivenUp = true;
      this.#abort?.(new Error('the service does not answer'));
    });
  }

  readonly clientLeft = (): void => {
    if (this.exchange.response.writableEnded) return;
    this.#isGone = true;
    this.#abort?.(new Error('client left'));
  };

  ask(reads: PlainReads): void {
    const { url, headers } = this.exchange.request;
    try {
      this.#abort = reads.get(url, headers, this) as (error?: Error) => void;
    } catch (error) {
      this.onError(error as Error);
    }
  }

  onConnect(abort: (error?: Error) => void): void {
    this.#abort = abort;
    if (this.#isGone) abort(new Error('client left'));
    if (this.#isGivenUp) abort(new Error('the service does not answer'));
  }

  onHeaders(status: number, raw: Buffer[], resume: () => void): boolean {
    if (status < 200) return true;
    const headers: string[] = [];
    for (let i = 0; i < raw.length; i += 2) {
      headers.push(raw[i]!.toString('latin1').toLowerCase(), raw[i + 1]!.toString('latin1'));
    }
    this.onHead(status, headers, resume);
    return true;
  }

  onHead(status: number, given: string[], resume: () => void): void {
    this.#leave?.();
    this.#resume = resume;
    const { request, response } = this.exchange;
    const headers: string[] = [];
    for (let i = 0; i < given.length; i += 2) {
      if (!NOT_COPIED.has(given[i]!)) headers.push(given[i]!, given[i + 1]!);
    }
    headers.push(...request.answerHeaders);
    response.writeHead(status, headers);
  }

  onBytes(bytes: Buffer, written: (error?: Error | null) => void): boolean {
    const { response } = this.exchange;
    if (response.write(bytes, written)) return true;
    response.once('drain', () => this.#resume?.());
    return false;
  }

  /** Not what a short read is answered with: asked again in the general way. */
  onOther(): void {
    const { response } = this.exchange;
    this.#leave?.();
    response.off('close', this.clientLeft);
    if (!response.destroyed) send({ ...this.exchange, reads: null }, true);
  }

  onData(chunk: Buffer): boolean {
    const { response } = this.exchange;
    if (response.write(chunk)) return true;
    response.once('drain', () => this.#resume?.());
    return false;
  }

  onComplete(): void {
    this.exchange.response.end();
  }

  onError(error: Error): void {
    this.#leave?.();
    const { request, response, fail, log } = this.exchange;
    // Not `incoming.socket`: undici has destroyed the body by now, which takes its socket away from it.
    if (this.#isGone || response.destroyed || !response.socket || response.socket.destroyed) return;
    if (response.headersSent) {
      // Part of the answer is out: only a broken connection can tell the client.
      log.warn({ service: request.service, reason: error.message }, 'answer broken off');
      response.destroy();
      return;
    }
    response.off('close', this.clientLeft);
    // The service closed an idle connection just then; reads may simply be asked again.
    if (this.mayRetry && isLostConnection(error)) send({ ...this.exchange, reads: null }, false);
    else fail(refusal(request, error));
  }
}

function isLostConnection(error: Error): boolean {
  const code = (error as { code?: string }).code;
  return error instanceof errors.SocketError || code === 'ECONNRESET' || code === 'EPIPE';
}

function refusal({ service, maxBodyBytes }: ForwardRequest, error: Error): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof errors.RequestContentLengthMismatchError) return tooLarge(maxBodyBytes);
  if (error instanceof errors.InvalidArgumentError) {
    return new AppError(
      'bad_parameters_error',
      'The request line or a header holds characters that are not allowed',
      {},
      { cause: error },
    );
  }
  if (error instanceof errors.HeadersTimeoutError) {
    return new AppError(
      'request_timeout_error',
      `Service ${service} did not answer in time`,
      {},
      { cause: error },
    );
  }
  return unavailable(service, error);
}

export function unavailable(service: ServiceName, cause?: unknown): AppError {
  return new AppError('service_unavailable_error', `Service ${service} does not answer`, {}, { cause });
}
