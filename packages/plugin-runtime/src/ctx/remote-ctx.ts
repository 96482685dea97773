import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { Json } from '@baton/kernel';
import { FatalError, type RemoteCtx, type RemoteFiles } from '@baton/plugin-sdk';
import type { OperationSession } from '../context/session';
import { ScriptResult } from '../script/script-result';
import { type Call, type CtxCalls, ctxAnswers, replyTo } from './ctx-answers';
import { ARGS_TYPE, answerClient, LINES_TYPE } from './ctx-client-calls';
import { takeConnection } from './ctx-connection';
import { ctxTree } from './ctx-tree';
import { walk } from './walk';

const PROGRAMS = ['ctx', 'ctx-sh', 'ctx-function', 'ctx.py', 'ctx-client.py'];

/**
 * Serves `ctx` to scripts on another machine. Nothing listens here: connections come from a forwarded port. These scripts have the
 * calls of the command `ctx` alone, not those of our Python runner, which sends whole instances.
 * @param bin folder with the programs that scripts call
 */
export async function remoteCtx(
  session: OperationSession,
  bin: string,
  files: RemoteFiles,
  hide?: (text: string) => string,
): Promise<RemoteCtx> {
  const result = new ScriptResult();
  const tree = ctxTree(session, result, { places: files, makeFolder: noFolder, hide });
  const client: CtxCalls['client'] = (body, isLines) =>
    answerClient(body, isLines, (args) => replyTo(() => walk(tree, args)));
  const ctx: Call = async (body, type) => {
    const isLines = type.startsWith(LINES_TYPE);
    if (isLines || type.startsWith(ARGS_TYPE)) return await client(body, isLines);
    return { text: 'RequestError: only the command ctx may call from another machine', exit: 1 };
  };
  const { path, answers, settled } = ctxAnswers({ ctx, client, workflow: null });
  // Loaded when needed: most operations of most plugins never are.
  const { createServer } = await import('node:http');
  const server = createServer(answers.http);
  const open = new Set<Duplex>();
  const runOf = (asked: string) => (asked === path ? { answers, sockets: open } : undefined);
  return {
    path,
    programs: Object.fromEntries(PROGRAMS.map((name) => [name, readFileSync(join(bin, name), 'utf8')])),
    accept: (connection) => {
      open.add(connection);
      connection.once('close', () => open.delete(connection));
      takeConnection(connection, server, runOf);
    },
    outcome: async () => {
      await settled();
      const decided = result.decided();
      if (decided) throw decided;
      return (result.returned ?? null) as Json;
    },
    close: () => {
      for (const connection of open) connection.destroy();
    },
  };
}

const noFolder = async (): Promise<never> => {
  throw new FatalError(
    'ctx.plugin.workdir is a folder of the worker: scripts on another machine do not see it',
  );
};
