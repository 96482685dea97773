/**
 * Forwarding over HTTP. Short requests go through undici's dispatcher: raw headers in both directions, chunks passed on as they
 * arrive, with back-pressure. Event streams, uploads and downloads go through http-proxy-middleware (`long-proxy.ts`).
 * See docs/adr/0005-gateway-forwarding.md for the measurements.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { ServiceName } from '@baton/contracts';
import { packedHeader, unpackPieces } from '@baton/http';
import { AppError, isOn, type Log } from '@baton/kernel';
import { clientTls, type TlsSource } from '@baton/tls';
import { buildConnector, type Dispatcher, errors, Pool } from 'undici';
import { answerHeaders } from './answer-headers';
import type { Forwarder, ForwardRequest } from './forward';
import { refusalOf, unavailable } from './forward-refusals';
import { limitBody } from './limit-body';
import { createLongProxy, type LongProxy } from './long-proxy';
import { createServiceWatch, type ServiceWatch } from './service-watch';

/** Synchronous calls of the API may take 300 s; the gateway waits a little longer than the service. */
const ANSWER_MS = 310_000;
const CONNECT_MS = 2_000;
/**
 * Idle connections are closed soon. A new connection costs next to nothing. An unused connection (undici opens one for each request
 * that a client gave up) keeps a service from stopping, because node:http does not count it as idle.
 */
const KEEP_ALIVE_MS = 1_000;
/** Most short requests to one service at the same time; further ones wait in line. */
const CONNECTIONS = 128;
const LONG = { connectMs: CONNECT_MS, keepAliveMs: KEEP_ALIVE_MS, answerMs: ANSWER_MS };

const TAKES_PACKED = [packedHeader, 'yes'];

export interface HttpForwarderOptions {
  /** Origin of each service: http://host:port. */
  origins: Partial<Record<ServiceName, string>>;
  log: Log;
  /** For https origins: the certificate of the gateway and the certificates that it trusts. */
  tls?: TlsSource | null;
}

/** The connections to one service. */
interface Ways {
  short: Pool;
  /** Requests whose body arrives at the speed of the client: they must not use up the connections of the others. */
  slow: Pool;
  /** Event streams and transfers. */
  long: LongProxy;
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

export function createHttpForwarder({ origins, log, tls = null }: HttpForwarderOptions): Forwarder {
  const ways = new Map<ServiceName, Ways>();
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
  for (const [name, origin] of Object.entries(origins)) {
    const service = name as ServiceName;
    const slow = open(origin, null);
    ways.set(service, {
      short: open(origin, CONNECTIONS),
      slow,
      long: createLongProxy({ origin, service, log, tls, ...LONG }),
      watch: createServiceWatch({ origin, service, log, dispatcher: slow }),
    });
  }
  return {
    forward(request, incoming, response, fail) {
      const way = ways.get(request.service);
      if (!way || way.watch.isAway()) return fail(unavailable(request.service));
      // Transfers may be silent for long. A short request is refused when the service is found away.
      if (request.isLong) return way.long.forward(request, incoming, response, fail);
      const pool = request.isComing ? way.slow : way.short;
      send({ pool, request, incoming, response, fail, log, watch: way.watch }, request.body === 'none');
    },
    close: async () => {
      for (const { watch, long } of ways.values()) {
        watch.close();
        long.close();
      }
      // The server in front has already waited for running requests. `close` would also wait for clients that do not end their
      // body,
      // or that do not read their answer.
      await Promise.all([...ways.values()].flatMap(({ short, slow }) => [short.destroy(), slow.destroy()]));
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
  watch: ServiceWatch;
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
      headers: isOn('packed-answers') ? [...request.headers, ...TAKES_PACKED] : request.headers,
      body:
        request.body === 'none'
          ? null
          : request.body === 'sized'
            ? incoming
            : Readable.from(limitBody(incoming, request.maxBodyBytes)),
    },
    answer,
  );
  response.once('close', answer.clientLeft);
}

interface PackedAnswer {
  status: number;
  /** [name, value, ...]; content-length is the length of the packed answer. */
  headers: string[];
  layoutBytes: number;
  chunks: Buffer[];
}

/**
 * Unpacks an answer and writes it to the client.
 * @throws RangeError, before anything is written, when the packed answer is damaged.
 */
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

/** Copies one answer to the client. undici calls the callbacks of the old handler style itself; the new ones wrap them. */
class AnswerWriter implements Dispatcher.DispatchHandler {
  #abort: ((error?: Error) => void) | undefined;
  #resume: (() => void) | undefined;
  #isGone = false;
  #isGivenUp = false;
  #packed: PackedAnswer | null = null;
  #bodyBytes: number | null = null;
  readonly #leave: () => void;

  constructor(
    private readonly exchange: Exchange,
    private readonly mayRetry: boolean,
  ) {
    this.#leave = exchange.watch.enter(() => {
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
    this.#leave();
    const { request, response, watch } = this.exchange;
    watch.heard();
    this.#resume = resume;
    const { headers, bodyBytes, layoutBytes } = answerHeaders(raw, request);
    this.#bodyBytes = bodyBytes;
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
    if (chunk.length === this.#bodyBytes) {
      // The whole body: headers, body and end are one write.
      response.end(chunk);
      return true;
    }
    if (response.write(chunk)) return true;
    response.once('drain', () => this.#resume?.());
    return false;
  }

  onComplete(): void {
    const { response, fail } = this.exchange;
    if (response.writableEnded) return;
    if (!this.#packed) return void response.end();
    try {
      sendPacked(response, this.#packed);
    } catch (cause) {
      fail(new AppError('internal_server_error', 'The answer cannot be read', {}, { cause }));
    }
  }

  onError(error: Error): void {
    this.#leave();
    const { request, response, fail, log } = this.exchange;
    // Not `incoming.socket`: undici has destroyed the body by now, and a destroyed body has lost its socket.
    if (this.#isGone || response.destroyed || !response.socket || response.socket.destroyed) return;
    if (response.headersSent) {
      // Part of the answer has been sent: only a broken connection can tell the client.
      log.warn({ service: request.service, reason: error.message }, 'answer broken off');
      response.destroy();
      return;
    }
    response.off('close', this.clientLeft);
    // The service closed an idle connection just then; reads may simply be sent again.
    if (this.mayRetry && isLostConnection(error)) send(this.exchange, false);
    else fail(refusalOf(request, error));
  }
}

function isLostConnection(error: Error): boolean {
  const code = (error as { code?: string }).code;
  return error instanceof errors.SocketError || code === 'ECONNRESET' || code === 'EPIPE';
}
