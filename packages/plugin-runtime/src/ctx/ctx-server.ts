import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import type { OperationSession } from '../context/session';
import type { ScriptResult } from '../script/script-result';
import { type Call, type CtxCalls, ctxAnswers, replyOfThrown, replyTo } from './ctx-answers';
import { ARGS_TYPE, answerClient, LINES_TYPE, type Told } from './ctx-client-calls';
import { type CtxHost, createCtxHost } from './ctx-host';
import { ctxTree } from './ctx-tree';
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
  const { path, answers, settled } = ctxAnswers(
    callsOf(ctxTree(session, result, work), shimCalls(session, result, work), workflowCalls),
  );
  const host = shared ?? createCtxHost();
  if (!shared) await host.listen();
  const place = host.open(path, answers);
  return {
    url: `${place.origin}${path}`,
    settled,
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
): CtxCalls {
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
