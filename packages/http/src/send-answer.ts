import type { Readable } from 'node:stream';
import { jsonParts } from '@baton/kernel';
import type { FastifyReply } from 'fastify';
import { Answer, attachment, type FullAnswer, type HttpAnswer, type StreamEvent } from './answer';
import { itemsOf } from './bare-list';
import type { CompiledRoute } from './compile-route';
import { logError, toAppError } from './error-body';
import { sendEvents } from './event-stream';
import { pickFields } from './list-query';
import type { HttpAppOptions } from './options';
import type { RequestCall } from './request-call';
import { sendParts } from './send-parts';

type SendOptions = Pick<HttpAppOptions, 'log' | 'validateResponses' | 'heartbeatMs'> & {
  stopping: AbortSignal;
};

/** Writes what a handler returned. @throws Error when it breaks its contract and answers are validated. */
export function sendAnswer(
  route: CompiledRoute,
  call: RequestCall,
  reply: FastifyReply,
  result: HttpAnswer,
  o: SendOptions,
): FastifyReply {
  const full: FullAnswer = result instanceof Answer ? result.full : { body: result };
  const status = full.status ?? route.contract.status;
  reply.code(status);
  if (full.headers) reply.headers(full.headers);
  if (full.stream) {
    const isEvents = route.contract.responseKind === 'events';
    return isEvents ? startEvents(call, reply, full, o) : sendDownload(call, reply, full, o);
  }
  if (status === 204 || status === 304) return reply.send();
  if (route.contract.responseKind === 'text') {
    return reply
      .header('content-type', full.contentType ?? 'text/plain; charset=utf-8')
      .send(String(full.body ?? ''));
  }
  return sendJson(route, call, reply, full, o);
}

function sendJson(
  route: CompiledRoute,
  call: RequestCall,
  reply: FastifyReply,
  full: FullAnswer,
  o: SendOptions,
): FastifyReply {
  // Contracts describe the latest version; older ones show fewer fields and other times.
  const isWhole = call.include === null && !call.list?.include && call.version === 'v3.1';
  if (o.validateResponses && isWhole && full.status === undefined)
    route.checkResponse(JSON.parse(JSON.stringify(full.body ?? null)));
  const body = call.include === null ? full.body : pickFields(full.body, call.include);
  reply.header('content-type', full.contentType ?? 'application/json; charset=utf-8');
  return sendParts(reply, jsonParts(itemsOf(reply.request.headers, body)));
}

function sendDownload(
  call: RequestCall,
  reply: FastifyReply,
  full: FullAnswer,
  o: SendOptions,
): FastifyReply {
  const stream = full.stream as Readable;
  // Archives come with what the original's have (reference/rest-api.md 5.30).
  if (full.filename !== undefined) {
    reply.headers({
      'content-description': 'File Transfer',
      'cache-control': 'no-cache',
      'content-disposition': attachment(full.filename),
    });
  }
  if (full.length !== undefined) reply.header('content-length', full.length);
  // After the first byte only the broken connection can tell the client.
  stream.once('error', (error: Error) =>
    logError(o.log, toAppError(error), { requestId: call.requestId, part: 'download' }),
  );
  return reply.header('content-type', full.contentType ?? 'application/octet-stream').send(stream);
}

function startEvents(call: RequestCall, reply: FastifyReply, full: FullAnswer, o: SendOptions): FastifyReply {
  reply.hijack();
  void sendEvents(reply.raw, full.stream as AsyncIterable<StreamEvent | string>, {
    headers: { 'x-request-id': call.requestId, ...full.headers },
    signal: o.stopping,
    heartbeatMs: o.heartbeatMs,
    onError: (error) =>
      logError(o.log, toAppError(error), { requestId: call.requestId, part: 'event stream' }),
  }).catch((error: unknown) => {
    logError(o.log, toAppError(error), { requestId: call.requestId, part: 'event stream' });
    reply.raw.destroy();
  });
  return reply;
}
