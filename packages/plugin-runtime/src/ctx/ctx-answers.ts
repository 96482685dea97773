import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { type Json, newId } from '@baton/kernel';
import { FatalError, isMarkedError } from '@baton/plugin-sdk';
import { thrownTexts } from '../thrown';
import type { Reply, Told } from './ctx-client-calls';
import { StopOperation } from './ctx-tree';

const MAX_BODY_BYTES = 32 * 1024 * 1024;
/** An answer up to this size is told to the client as one text; it passes a longer one through. */
const MAX_TEXT_BYTES = 64 * 1024;

export type Call = (body: () => Buffer, type: string) => Promise<Told>;

/** Answers requests to a path that is a secret of the run. */
export function ctxAnswers(calls: { ctx: Call; workflow: Call | null }): {
  path: string;
  onRequest: RequestListener;
  settled(): Promise<void>;
} {
  const path = `/${newId().replaceAll('-', '')}`;
  let running = Promise.resolve();
  const onRequest: RequestListener = (request, response) => {
    const isWorkflow = calls.workflow !== null && request.url === `${path}/wf`;
    if (request.method !== 'POST' || (request.url !== path && !isWorkflow))
      return void response.writeHead(404).end();
    // A client that never ends its request blocks neither other clients nor the end of its script.
    void readBody(request).then(
      (body) => {
        const answered = (): Promise<void> =>
          answer(request, response, body, (isWorkflow && calls.workflow) || calls.ctx).catch(
            () => void response.destroy(),
          );
        // One call at a time: scripts see each other's writes in order.
        if (isWorkflow) void answered();
        else running = running.then(answered);
      },
      () => response.destroy(),
    );
  };
  return { path, onRequest, settled: () => running };
}

export async function replyTo(run: () => Promise<Json>): Promise<Reply> {
  try {
    return { type: 'result', payload: await run() };
  } catch (thrown) {
    return replyOfThrown(thrown);
  }
}

/**
 * Returns a function that returns the body, or throws that it is too large. A body that is too large is read to its end
 * too, so that the client receives the error.
 */
async function readBody(request: IncomingMessage): Promise<() => Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > MAX_BODY_BYTES) chunks.length = 0;
    else chunks.push(chunk as Buffer);
  }
  if (size <= MAX_BODY_BYTES) return () => Buffer.concat(chunks);
  return () => {
    throw new FatalError(`one call of ctx may carry ${MAX_BODY_BYTES} bytes, this one has ${size}`);
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  body: () => Buffer,
  call: Call,
): Promise<void> {
  const { text, exit } = await call(body, request.headers['content-type'] ?? '');
  // The client reads the head one character at a time, so it holds only what the client needs.
  const bytes = Buffer.byteLength(text);
  const isText = bytes <= MAX_TEXT_BYTES && !text.includes('\0');
  response.sendDate = false;
  response
    .writeHead(200, {
      'x-ctx-exit': String(exit),
      ...(isText && { 'x-ctx-text': bytes }),
      'content-length': bytes,
    })
    .end(text);
}

export function replyOfThrown(thrown: unknown): Reply {
  if (thrown instanceof StopOperation)
    return { type: 'stop_operation', payload: { message: thrown.message } };
  const { name, message } = thrownTexts(thrown);
  const type = isMarkedError(thrown) ? thrown.exceptionType : name;
  return { type: 'error', payload: { type, message, traceback: '' } };
}
