/**
 * Forwards long-lived requests (event streams, uploads, downloads) with http-proxy-middleware, which forwards the request to the
 * service with back-pressure and ends each side when the other one closes. This module decides, as for short requests, which
 * headers pass, how large a body may be, and which error a client gets when the service fails.
 */
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { ServiceName } from '@baton/contracts';
import type { AppError, Log } from '@baton/kernel';
import type { TlsSource } from '@baton/tls';
import { createProxyMiddleware, debugProxyErrorsPlugin, proxyEventsPlugin } from 'http-proxy-middleware';
import { answerHeaders } from './answer-headers';
import type { ForwardRequest } from './forward';
import { AnswerTimeout, refusalOf } from './forward-refusals';
import { tooLarge } from './limit-body';
import { createServiceAgent } from './service-agent';

export interface LongProxyOptions {
  /** http://host:port or https://host:port. */
  origin: string;
  service: ServiceName;
  log: Log;
  tls: TlsSource | null;
  connectMs: number;
  keepAliveMs: number;
  /** Longest silence of a service before its answer begins. */
  answerMs: number;
}

export interface LongProxy {
  /** Answers `response`; calls `fail` instead when nothing was sent and nothing will be sent. */
  forward(
    request: ForwardRequest,
    incoming: IncomingMessage,
    response: ServerResponse,
    fail: (error: AppError) => void,
  ): void;
  /** Ends running requests: event streams would otherwise end only when their clients leave. */
  close(): void;
}

/** State of one forwarded request. */
interface Forwarded {
  request: ForwardRequest;
  fail: (error: AppError) => void;
  mayRetry: boolean;
  outgoing?: ClientRequest;
  /** The reason why the gateway has given the request up. */
  givenUp?: Error;
  /** The request was refused: later events of the streams only concern its remains. */
  isOver?: boolean;
}

export function createLongProxy(o: LongProxyOptions): LongProxy {
  const agent = createServiceAgent(o.origin, o);
  const underWay = new WeakMap<IncomingMessage, Forwarded>();
  const of = (incoming: IncomingMessage): Forwarded => underWay.get(incoming)!;
  const proxy = createProxyMiddleware({
    target: o.origin,
    agent,
    changeOrigin: true,
    selfHandleResponse: true,
    // Without the log lines and the error texts of http-proxy-middleware.
    ejectPlugins: true,
    plugins: [debugProxyErrorsPlugin, proxyEventsPlugin],
    on: {
      proxyReq: (outgoing, incoming, response) =>
        guard(of(incoming), outgoing, incoming, response, o.answerMs),
      proxyRes: (answer, incoming, response) => copyAnswer(of(incoming), answer, response, o),
      error: (error, incoming, response) => {
        const forwarded = of(incoming);
        if (isLost(forwarded, error))
          send({ ...forwarded, mayRetry: false }, incoming, response as ServerResponse);
        else end(forwarded, error, incoming, response as ServerResponse);
      },
    },
  });
  const send = (forwarded: Forwarded, incoming: IncomingMessage, response: ServerResponse): void => {
    underWay.set(incoming, forwarded);
    void proxy(incoming, response);
  };
  return {
    forward(request, incoming, response, fail) {
      incoming.url = request.url;
      incoming.method = request.method;
      replaceHeaders(incoming, request.headers);
      const isRead = request.method === 'GET' && request.body === 'none';
      send({ request, fail, mayRetry: isRead }, incoming, response);
    },
    close: () => agent.destroy(),
  };
}

/**
 * Replaces the client's headers by the headers for the service. The headers that frame the body stay: they belong to the connection
 * of the client and are needed to read the body.
 */
function replaceHeaders(incoming: IncomingMessage, headers: readonly string[]): void {
  const { 'content-length': length, 'transfer-encoding': coding } = incoming.headers;
  const sent: Record<string, string | string[] | undefined> = incoming.headers;
  for (const name of Object.keys(sent)) delete sent[name];
  for (let i = 0; i < headers.length; i += 2) {
    const [name, value] = [headers[i]!, headers[i + 1]!];
    const before = sent[name];
    sent[name] = before === undefined ? value : [before, value].flat();
  }
  if (length !== undefined) sent['content-length'] = length;
  if (coding !== undefined) sent['transfer-encoding'] = coding;
}

/** Sets the limits before anything is sent: most bytes of the body, and the longest silence of the service. */
function guard(
  forwarded: Forwarded,
  outgoing: ClientRequest,
  incoming: IncomingMessage,
  response: ServerResponse,
  answerMs: number,
): void {
  const { body, maxBodyBytes } = forwarded.request;
  forwarded.outgoing = outgoing;
  const giveUp = (reason: Error): void => {
    forwarded.givenUp ??= reason;
    outgoing.destroy(reason);
  };
  outgoing.setTimeout(answerMs, () => giveUp(new AnswerTimeout('the service does not answer')));
  if (body !== 'chunked') return;
  let bytes = 0;
  // Runs beside the pipe, which is set up in the same turn and decides how quickly chunks come.
  incoming.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxBodyBytes) return;
    if (response.writableEnded && !forwarded.isOver) incoming.destroy();
    else if (!forwarded.givenUp) giveUp(tooLarge(maxBodyBytes));
  });
}

function copyAnswer(
  { request, outgoing, isOver }: Forwarded,
  answer: IncomingMessage,
  response: ServerResponse,
  { log, service }: LongProxyOptions,
): void {
  if (isOver || response.destroyed) return void answer.destroy();
  // From now on only the client decides how long the answer takes: an event stream may be silent.
  outgoing?.setTimeout(0);
  // The proxy then breaks off the client's connection: nothing else can tell the client that the answer is incomplete.
  answer.once('error', (error) => {
    if (!response.destroyed) log.warn({ service, reason: error.message }, 'answer broken off');
  });
  response.writeHead(answer.statusCode!, answerHeaders(answer.rawHeaders, request).headers);
  answer.pipe(response);
}

/** Whether the service closed an idle connection just then: reads may simply be sent again. */
const isLost = ({ mayRetry, outgoing, givenUp }: Forwarded, error: Error): boolean =>
  mayRetry &&
  givenUp === undefined &&
  outgoing?.reusedSocket === true &&
  ['ECONNRESET', 'EPIPE'].includes((error as { code?: string }).code ?? '');

function end(forwarded: Forwarded, error: Error, incoming: IncomingMessage, response: ServerResponse): void {
  const { request, fail, outgoing, givenUp } = forwarded;
  if (forwarded.isOver || response.writableEnded) return;
  // The client has left, or the answer was broken off after part of it had been sent.
  if (response.destroyed || response.headersSent) return void response.destroy();
  forwarded.isOver = true;
  if (outgoing) incoming.unpipe(outgoing);
  fail(refusalOf(request, givenUp ?? error));
  // The rest of the client's body is read and discarded, so that the client comes to read the answer.
  incoming.resume();
}
