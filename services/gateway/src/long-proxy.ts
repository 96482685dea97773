/**
 * Forwards what lives long (event streams, uploads, downloads) with http-proxy-middleware: it takes the request over to the
 * service with back-pressure, and ends each side when the other one goes. Which headers pass, how large a body may be and
 * what a client reads when the service fails is decided here, as for short requests.
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
  /** Answers `response`; calls `fail` instead when nothing was sent and nothing will be. */
  forward(
    request: ForwardRequest,
    incoming: IncomingMessage,
    response: ServerResponse,
    fail: (error: AppError) => void,
  ): void;
  /** Ends what is under way: event streams would end only with their clients. */
  close(): void;
}

/** What is sent for one client. */
interface Forwarded {
  request: ForwardRequest;
  fail: (error: AppError) => void;
  mayRetry: boolean;
  outgoing?: ClientRequest;
  /** Why we have given the request up. */
  givenUp?: Error;
  /** Refused: what the streams report now is about what is left of it. */
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
    // Without its log lines and its texts for errors.
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
 * Gives a request the headers that its service is to see, in place of what the client sent. What frames the body belongs to
 * the connection of the client and says how to read it.
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

/** Before anything is sent: how much of a body passes, and for how long the service may be silent. */
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
  // Beside the pipe, which is laid in the same turn and says how quickly chunks come.
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
  // From now on only the client says how long it takes: an event stream may be silent.
  outgoing?.setTimeout(0);
  // The proxy breaks the client's connection off then: nothing else can tell that this is not all.
  answer.once('error', (error) => {
    if (!response.destroyed) log.warn({ service, reason: error.message }, 'answer broken off');
  });
  response.writeHead(answer.statusCode!, answerHeaders(answer.rawHeaders, request).headers);
  answer.pipe(response);
}

/** Whether the service closed an idle connection just then: reads may simply be asked again. */
const isLost = ({ mayRetry, outgoing, givenUp }: Forwarded, error: Error): boolean =>
  mayRetry &&
  givenUp === undefined &&
  outgoing?.reusedSocket === true &&
  ['ECONNRESET', 'EPIPE'].includes((error as { code?: string }).code ?? '');

function end(forwarded: Forwarded, error: Error, incoming: IncomingMessage, response: ServerResponse): void {
  const { request, fail, outgoing, givenUp } = forwarded;
  if (forwarded.isOver || response.writableEnded) return;
  // The client has left, or part of the answer is out and was broken off.
  if (response.destroyed || response.headersSent) return void response.destroy();
  forwarded.isOver = true;
  if (outgoing) incoming.unpipe(outgoing);
  fail(refusalOf(request, givenUp ?? error));
  // What the client still sends is read on, so that it comes to read the answer.
  incoming.resume();
}
