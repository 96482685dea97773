import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isJsonObject, type Json, type JsonObject, newId } from '@baton/kernel';
import { isMarkedError } from '@baton/plugin-sdk';
import type { OperationSession } from '../context/session';
import type { ScriptResult } from '../script/script-result';
import { ctxTree, StopOperation } from './ctx-tree';
import { isFalsy, pythonText } from './python-text';
import { shimCalls } from './shim-calls';
import { walk } from './walk';

const MAX_BODY_BYTES = 32 * 1024 * 1024;

export interface CtxServer {
  /** Value of CTX_SOCKET_URL; its path is a secret of the run, so that scripts of other runs cannot call in. */
  url: string;
  /** Resolves when no call is being answered. */
  settled(): Promise<void>;
  close(): void;
}

type Reply =
  | { type: 'result'; payload: Json }
  | { type: 'error'; payload: { type: string; message: string; traceback: string } }
  | { type: 'stop_operation'; payload: { message: string } };

/** Serves `ctx` to the processes of one script run over HTTP on the loopback (reference/workflows.md 5.4). */
export async function serveCtx(
  session: OperationSession,
  result: ScriptResult,
  tempDir: string,
  /** Calls of workflow code, by name; they run beside each other. */
  calls: ReadonlyMap<string, (request: JsonObject) => Promise<Json>> = new Map(),
): Promise<CtxServer> {
  const path = `/${newId().replaceAll('-', '')}`;
  const tree = ctxTree(session, result, tempDir);
  const shim = shimCalls(session, result, tempDir);
  let running = Promise.resolve();

  const replyTo = async (run: () => Promise<Json>): Promise<Reply> => {
    try {
      return { type: 'result', payload: await run() };
    } catch (thrown) {
      return replyOfThrown(thrown);
    }
  };
  const call = (body: Buffer, type: string): Promise<{ text: string; exit: number }> => {
    if (type.startsWith('application/x-ctx-args'))
      return answerClient(body, (args) => replyTo(() => walk(tree, args)));
    return replyTo(async () => {
      const request = JSON.parse(body.toString('utf8')) as Json;
      if (!isJsonObject(request)) throw new Error('expected a JSON object with args');
      if (typeof request.op === 'string') return shim(request.op, request);
      if (!Array.isArray(request.args)) throw new Error('args must be a list');
      return walk(tree, request.args);
    }).then((reply) => ({ text: JSON.stringify(reply), exit: 0 }));
  };

  const callWorkflow = (body: Buffer): Promise<{ text: string; exit: number }> =>
    replyTo(async () => {
      const asked = JSON.parse(body.toString('utf8')) as Json;
      const run = isJsonObject(asked) && typeof asked.op === 'string' ? calls.get(asked.op) : undefined;
      if (!run) throw new Error('only the code of a workflow may ask that');
      return run(asked as JsonObject);
    }).then((reply) => ({ text: JSON.stringify(reply), exit: 0 }));

  const server = createServer((request, response) => {
    if (request.method === 'POST' && request.url === `${path}/wf`)
      return void answer(request, response, callWorkflow).catch(() => undefined);
    if (request.method !== 'POST' || request.url !== path) return void response.writeHead(404).end();
    // One call at a time: scripts see each other's writes in order.
    running = running.then(() => answer(request, response, call)).catch(() => undefined);
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}${path}`,
    settled: () => running,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  call: (body: Buffer, type: string) => Promise<{ text: string; exit: number }>,
): Promise<void> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > MAX_BODY_BYTES) return void response.writeHead(413).end();
    chunks.push(chunk as Buffer);
  }
  const { text, exit } = await call(Buffer.concat(chunks), request.headers['content-type'] ?? '');
  response.writeHead(200, { 'content-type': 'application/json', 'x-ctx-exit': String(exit) }).end(text);
}

function replyOfThrown(thrown: unknown): Reply {
  if (thrown instanceof StopOperation)
    return { type: 'stop_operation', payload: { message: thrown.message } };
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const type = isMarkedError(error) ? error.exceptionType : error.name;
  return { type: 'error', payload: { type, message: error.message, traceback: '' } };
}

/**
 * The command-line client sends its words as netstrings (`5:hello,`): prefix of JSON words, `1` for JSON output, then the
 * arguments. Decoding and printing happen here, so that the client can be a few lines of shell.
 */
async function answerClient(
  body: Buffer,
  run: (args: Json[]) => Promise<Reply>,
): Promise<{ text: string; exit: number }> {
  const [prefix = '@', asJson = '', ...words] = readNetstrings(body);
  let args: Json[];
  try {
    args = words.map((word) =>
      prefix !== '' && word.startsWith(prefix) ? (JSON.parse(word.slice(prefix.length)) as Json) : word,
    );
  } catch (error) {
    return {
      text: `RequestError: an argument with ${prefix} is not JSON: ${(error as Error).message}\n`,
      exit: 1,
    };
  }
  const reply = await run(args);
  if (reply.type === 'stop_operation') return { text: `${reply.payload.message}\n`, exit: 1 };
  if (reply.type === 'error')
    return { text: `RequestError: ${reply.payload.type}: ${reply.payload.message}\n`, exit: 1 };
  if (asJson === '1') return { text: JSON.stringify(reply.payload), exit: 0 };
  return { text: isFalsy(reply.payload) ? '' : pythonText(reply.payload), exit: 0 };
}

function readNetstrings(body: Buffer): string[] {
  const words: string[] = [];
  for (let at = 0; at < body.length; ) {
    const colon = body.indexOf(0x3a, at);
    const length = Number(body.subarray(at, colon).toString('latin1'));
    if (colon < 0 || !Number.isInteger(length)) throw new Error('malformed arguments');
    words.push(body.subarray(colon + 1, colon + 1 + length).toString('utf8'));
    at = colon + 1 + length + 1;
  }
  return words;
}
