/**
 * Forwarding over HTTP with undici's dispatcher: raw headers in and out, chunks handed on as they come, in both
 * directions, with back-pressure. See docs/adr/0005-gateway-forwarding.md for what was measured against it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { ServiceName } from '@baton/contracts';
import { packedHeader, unpackPieces } from '@baton/http';
import { AppError, type Log } from '@baton/kernel';
import { clientTls, type TlsSource } from '@baton/tls';
import { buildConnector, type Dispatcher, errors, Pool } from 'undici';
import type { Forwarder, ForwardRequest } from './forward';
import { limitBody, tooLarge } from './limit-body';
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
const NOT_COPIED = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'x-request-id',
  packedHeader,
]);
/** Answers to transfers and streams pass as they are. */
const TAKES_PACKED = [packedHeader, 'yes'];

export interface HttpForwarderOptions {
  /** Origin of each service: http://host:port. */
  origins: Partial<Record<ServiceName, string>>;
  log: Log;
  /** For https origins: what is shown to the services, and whom to trust. */
  tls?: TlsSource | null;
}

interface Pools {
  short: Pool;
  /** Event streams and transfers: they must not use up the connections of the short ones. */
  long: Pool;
  watch: ServiceWatch;
}

/** New connections follow renewed certificates; the sessions of the old ones are not resumed. */
function connectorOf(tls: TlsSource | null | undefined): buildConnector.connector {
  if (!tls) return buildConnector({ timeout: CONNECT_MS });
  const build = () => buildConnector({ timeout: CONNECT_MS, ...clientTls(tls) });
  let connector = build();
  tls.onChange(() => {
    connector = build();
  });
  return (options, done) => connector(options, done);
}

export function createHttpForwarder({ origins, log, tls }: HttpForwarderOptions): Forwarder {
  const pools = new Map<ServiceName, Pools>();
  const connect = connectorOf(tls);
  const open = (origin: string, connections: number | null): Pool =>
    new Pool(origin, {
      connections,
      pipelining: 1,
      headersTimeout: ANSWER_MS,
      bodyTimeout: ANSWER_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      connect,
    });
  for (const [service, origin] of Object.entries(origins)) {
    const long = open(origin, null);
    pools.set(service as ServiceName, {
      short: open(origin, CONNECTIONS),
      long,
      watch: createServiceWatch({ origin, service, log, dispatcher: long }),
    });
  }
  return {
    forward(request, incoming, response, fail) {
      const pair = pools.get(request.service);
      if (!pair || pair.watch.isAway()) return fail(unavailable(request.service));
      const pool = request.isLong || request.isComing ? pair.long : pair.short;
      // Transfers may be silent for long; whoever waits for a short answer is told when none will come.
      const watch = request.isLong ? null : pair.watch;
      send({ pool, request, incoming, response, fail, log, watch }, request.body === 'none');
    },
    close: async () => {
      // `close` would wait for event streams, which end only with their clients.
      for (const { watch } of pools.values()) watch.close();
      await Promise.all([...pools.values()].flatMap(({ short, long }) => [short.close(), long.destroy()]));
    },
  };
}

interface Exchange {
  pool: Pool;
  request: ForwardRequest;
  incoming: IncomingMessage;
  response: ServerResponse;
  fail: (error: AppError) => void;
  log: Log;
  watch: ServiceWatch | null;
}

function send(exchange: Exchange, mayRetry: boolean): void {
  const { pool, request, incoming, response } = exchange;
  const answer = new AnswerWriter(
    exchange,
    mayRetry && (request.method === 'GET' || request.method === 'HEAD'),
  );
  pool.dispatch(
    {
      path: request.url,
      method: request.method as Dispatcher.HttpMethod,
      headers: request.isLong ? request.headers : [...request.headers, ...TAKES_PACKED],
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
  response.once('close', answer.clientLeft);
}

interface PackedAnswer {
  status: number;
  /** [name, value, ...]; the length is that of the packed answer. */
  headers: string[];
  layoutBytes: number;
  chunks: Buffer[];
}

/** Writes what a packed answer stands for. @throws RangeError, before anything is written, when it is damaged. */
function sendPacked(response: ServerResponse, { status, headers, layoutBytes, chunks }: PackedAnswer): void {
  const pieces = unpackPieces(chunks, layoutBytes);
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const sent: string[] = ['content-length', String(bytes)];
  for (let i = 0; i < headers.length; i += 2)
    if (headers[i] !== 'content-length') sent.push(headers[i]!, headers[i + 1]!);
  response.writeHead(status, sent);

  response.cork();
  for (const piece of pieces) response.write(piece);
  response.end();
  response.uncork();
}

/** Copies one answer. The callbacks of the old handler style are what undici calls itself; the new ones wrap them. */
class AnswerWriter implements Dispatcher.DispatchHandler {
  #abort: ((error?: Error) => void) | undefined;
  #resume: (() => void) | undefined;
  #isGone = false;
  #isGivenUp = false;
  #packed: PackedAnswer | null = null;
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

  onConnect(abort: (error?: Error) => void): void {
    this.#abort = abort;
    if (this.#isGone) abort(new Error('client left'));
    if (this.#isGivenUp) abort(new Error('the service does not answer'));
  }

  onHeaders(status: number, raw: Buffer[], resume: () => void): boolean {
    if (status < 200) return true;
    this.#leave?.();
    const { request, response } = this.exchange;
    this.#resume = resume;
    const headers: string[] = [];
    let layoutBytes: string | null = null;
    for (let i = 0; i < raw.length; i += 2) {
      const name = raw[i]!.toString('latin1').toLowerCase();
      const value = raw[i + 1]!.toString('latin1');
      if (!NOT_COPIED.has(name)) headers.push(name, value);
      else if (name === packedHeader) layoutBytes = value;
    }
    headers.push(...request.answerHeaders);
    if (layoutBytes === null) response.writeHead(status, headers);
    else this.#packed = { status, headers, layoutBytes: Number(layoutBytes), chunks: [] };
    return true;
  }

  onData(chunk: Buffer): boolean {
    if (this.#packed) {
      this.#packed.chunks.push(chunk);
      return true;
    }
    const { response } = this.exchange;
    if (response.write(chunk)) return true;
    response.once('drain', () => this.#resume?.());
    return false;
  }

  onComplete(): void {
    const { response, fail } = this.exchange;
    if (!this.#packed) return void response.end();
    try {
      sendPacked(response, this.#packed);
    } catch (cause) {
      fail(new AppError('internal_server_error', 'The answer cannot be read', {}, { cause }));
    }
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
    if (this.mayRetry && isLostConnection(error)) send(this.exchange, false);
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
