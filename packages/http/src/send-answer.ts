import type { Readable } from 'node:stream';
import { jsonParts } from '@baton/kernel';
import { Answer, attachment, type FullAnswer, type HttpAnswer, type StreamEvent } from './answer';
import { itemsOf } from './bare-list';
import type { CompiledRoute } from './compile-route';
import { logError, toAppError } from './error-body';
import { sendEvents } from './event-stream';
import { pickFields } from './list-query';
import type { HttpAppOptions } from './options';
import type { RequestCall } from './request-call';
import { sendParts } from './send-parts';
import { type ReplyHeaders, replyEmpty, replyStream, replyWhole } from './write-reply';

export type SendOptions = Pick<HttpAppOptions, 'log' | 'validateResponses' | 'heartbeatMs'> & {
  stopping: AbortSignal;
  /** Sends an error instead of the answer, as long as nothing of the answer was sent. */
  fail: (error: unknown, call: RequestCall) => void;
};

/** Answers without a body; 303 leads a browser on. */
const EMPTY = new Set([204, 303, 304]);

/** Sends the result of a handler. @throws Error when the result breaks its contract and answers are validated. */
export function sendAnswer(
  route: CompiledRoute,
  call: RequestCall,
  result: HttpAnswer,
  o: SendOptions,
): void {
  const full: FullAnswer = result instanceof Answer ? result.full : { body: result };
  const status = full.status ?? route.contract.status;
  const headers: ReplyHeaders = { 'x-request-id': call.requestId };
  for (const name in full.headers) headers[name.toLowerCase()] = full.headers[name]!;
  // Files get the same headers as the original's (reference/rest-api.md 5.30).
  if (full.filename !== undefined) {
    headers['content-description'] = 'File Transfer';
    headers['cache-control'] = 'no-cache';
    headers['content-disposition'] = attachment(full.filename);
  }
  if (full.stream) {
    if (route.contract.responseKind === 'events') startEvents(call, full, o);
    else sendDownload(call, status, headers, full, o);
  } else if (EMPTY.has(status)) replyEmpty(call.response, status, headers);
  else if (route.contract.responseKind === 'text') {
    headers['content-type'] = full.contentType ?? 'text/plain; charset=utf-8';
    replyWhole(call.response, status, headers, String(full.body ?? ''));
  } else sendJson(route, call, status, headers, full, o);
}

function sendJson(
  route: CompiledRoute,
  call: RequestCall,
  status: number,
  headers: ReplyHeaders,
  full: FullAnswer,
  o: SendOptions,
): void {
  // Contracts describe the latest version; older versions have fewer fields and other time formats.
  const isWhole = call.include === null && !call.list?.include && call.version === 'v3.1';
  if (o.validateResponses && isWhole && full.status === undefined)
    route.checkResponse(JSON.parse(JSON.stringify(full.body ?? null)));
  const body = call.include === null ? full.body : pickFields(full.body, call.include);
  headers['content-type'] = full.contentType ?? 'application/json; charset=utf-8';
  sendParts(call.raw, call.response, status, headers, jsonParts(itemsOf(call.headers, body)));
}

function sendDownload(
  call: RequestCall,
  status: number,
  headers: ReplyHeaders,
  full: FullAnswer,
  o: SendOptions,
): void {
  const stream = full.stream as Readable;
  if (full.length !== undefined) headers['content-length'] = full.length;
  headers['content-type'] = full.contentType ?? 'application/octet-stream';
  // After the first byte only a broken connection can tell the client.
  stream.once('error', (error: Error) =>
    logError(o.log, toAppError(error), { requestId: call.requestId, part: 'download' }),
  );
  replyStream(call.response, status, headers, stream, (error) => o.fail(error, call));
}

function startEvents(call: RequestCall, full: FullAnswer, o: SendOptions): void {
  const { response, requestId } = call;
  const failed = (error: unknown): void =>
    logError(o.log, toAppError(error), { requestId, part: 'event stream' });
  void sendEvents(response, full.stream as AsyncIterable<StreamEvent | string>, {
    headers: { 'x-request-id': requestId, ...full.headers },
    signal: o.stopping,
    heartbeatMs: o.heartbeatMs,
    onError: failed,
  }).catch((error: unknown) => {
    failed(error);
    response.destroy();
  });
}
