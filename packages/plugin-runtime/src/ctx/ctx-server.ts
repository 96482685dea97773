import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { isJsonObject, type Json, type JsonObject, newId } from '@baton/kernel';
import { isMarkedError } from '@baton/plugin-sdk';
import type { OperationSession } from '../context/session';
import type { ScriptResult } from '../script/script-result';
import { thrownTexts } from '../thrown';
import { clientReply, MAX_BODY_BYTES, wholeBody } from './client-wire';
import { ARGS_TYPE, answerClient, LINES_TYPE, type Reply, type Told } from './ctx-client-calls';
import { type CtxAnswers, type CtxHost, createCtxHost } from './ctx-host';
import { ctxTree, StopOperation } from './ctx-tree';
import type { CtxWork } from './ctx-work';
import { shimCalls } from './shim-calls';
import { walk } from './walk';

export interface CtxServer {
  /** Value of CTX_SOCKET_URL. Its path is a secret of the run, so that scripts of other runs cannot call it. */
  url: string;
  /** Resolves when no call is in progress. */
  settled(): Promise<void>;
  close(): void;
}

type Call = (body: () => Buffer, type: string) => Promise<Told>;

/** Calls of workflow code, by name; they run concurrently. */
type WorkflowCalls = ReadonlyMap<string, (request: JsonObject) => Promise<Json>>;

/**
 * Serves `ctx` to the processes of one script run over HTTP on the loopback (reference/workflows.md 5.4): at the
 * worker's shared host, or at its own.
 */
export async function serveCtx(
  session: OperationSession,
  result: ScriptResult,
  work: CtxWork,
  workflowCalls: WorkflowCalls = new Map(),
  shared?: CtxHost,
): Promise<CtxServer> {
  const path = `/${newId().replaceAll('-', '')}`;
  const calls = callsOf(ctxTree(session, result, work), shimCalls(session, result, work), workflowCalls);
  let running = Promise.resolve();

  const onRequest: RequestListener = (request, response) => {
    const isWorkflow = request.url === `${path}/wf`;
    if (request.method !== 'POST' || (request.url !== path && !isWorkflow))
      return void response.writeHead(404).end();
    // A client that never ends its request blocks neither other clients nor the end of its script.
    void readBody(request).then(
      (body) => {
        const answered = (): Promise<void> =>
          answer(request, response, body, isWorkflow ? calls.workflow : calls.ctx).catch(
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
  const host = shared ?? createCtxHost();
  if (!shared) await host.listen();
  const place = host.open(path, { http: onRequest, client });
  return {
    url: `${place.origin}${path}`,
    settled: () => running,
    close: () => {
      place.close();
      if (!shared) host.close();
    },
  };
}

/** Functions of the two addresses of a run: calls of `ctx`, and calls of workflow code by name. */
function callsOf(
  tree: ReturnType<typeof ctxTree>,
  shim: ReturnType<typeof shimCalls>,
  workflowCalls: WorkflowCalls,
): { ctx: Call; client: (body: () => Buffer, isLines: boolean) => Promise<Told>; workflow: Call } {
  const replyTo = async (run: () => Promise<Json>): Promise<Reply> => {
    try {
      return { type: 'result', payload: await run() };
    } catch (thrown) {
      return replyOfThrown(thrown);
    }
  };
  const asJson = async (run: () => Promise<Json>): Promise<Told> => {
    const reply = await replyTo(run);
    try {
      return { text: JSON.stringify(reply), exit: 0 };
    } catch (thrown) {
      return { text: JSON.stringify(replyOfThrown(thrown)), exit: 0 };
    }
  };
  const client = (body: () => Buffer, isLines: boolean): Promise<Told> =>
    answerClient(body, isLines, (args) => replyTo(() => walk(tree, args)));
  const ctx: Call = (body, type) => {
    const isLines = type.startsWith(LINES_TYPE);
    if (isLines || type.startsWith(ARGS_TYPE)) return client(body, isLines);
    return asJson(async () => {
      const request = JSON.parse(body().toString('utf8')) as Json;
      if (!isJsonObject(request)) throw new Error('expected a JSON object with args');
      if (typeof request.op === 'string') return shim(request.op, request);
      if (!Array.isArray(request.args)) throw new Error('args must be a list');
      return walk(tree, request.args);
    });
  };
  const workflow: Call = (body) =>
    asJson(async () => {
      const asked = JSON.parse(body().toString('utf8')) as Json;
      const run =
        isJsonObject(asked) && typeof asked.op === 'string' ? workflowCalls.get(asked.op) : undefined;
      if (!run) throw new Error('only the code of a workflow may ask that');
      return run(asked as JsonObject);
    });
  return { ctx, client, workflow };
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

function replyOfThrown(thrown: unknown): Reply {
  if (thrown instanceof StopOperation)
    return { type: 'stop_operation', payload: { message: thrown.message } };
  const { name, message } = thrownTexts(thrown);
  const type = isMarkedError(thrown) ? thrown.exceptionType : name;
  return { type: 'error', payload: { type, message, traceback: '' } };
}
