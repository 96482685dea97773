import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { type Json, newId } from '@baton/kernel';
import { isMarkedError } from '@baton/plugin-sdk';
import { thrownTexts } from '../thrown';
import { clientReply, MAX_BODY_BYTES, wholeBody } from './client-wire';
import type { Reply, Told } from './ctx-client-calls';
import type { CtxAnswers } from './ctx-connection';
import { StopOperation } from './ctx-tree';

export type Call = (body: () => Buffer, type: string) => Promise<Told>;

/** What runs the calls of a run: those of `ctx` by HTTP, those of the command-line client, and those of workflow code. */
export interface CtxCalls {
  ctx: Call;
  client: (body: () => Buffer, isLines: boolean) => Promise<Told>;
  workflow: Call | null;
}

/** Answers requests and calls to a path that is a secret of the run. */
export function ctxAnswers(calls: CtxCalls): {
  path: string;
  answers: CtxAnswers;
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
  const client: CtxAnswers['client'] = ({ body, isLines }) => {
    const told = running.then(() => calls.client(body, isLines));
    running = told.then(() => undefined);
    return told.then(clientReply);
  };
  return { path, answers: { http: onRequest, client }, settled: () => running };
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
  return () => wholeBody(chunks, size);
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  body: () => Buffer,
  call: Call,
): Promise<void> {
  const { text, exit } = await call(body, request.headers['content-type'] ?? '');
  response.sendDate = false;
  response
    .writeHead(200, { 'x-ctx-exit': String(exit), 'content-length': Buffer.byteLength(text) })
    .end(text);
}

export function replyOfThrown(thrown: unknown): Reply {
  if (thrown instanceof StopOperation)
    return { type: 'stop_operation', payload: { message: thrown.message } };
  const { name, message } = thrownTexts(thrown);
  const type = isMarkedError(thrown) ? thrown.exceptionType : name;
  return { type: 'error', payload: { type, message, traceback: '' } };
}
