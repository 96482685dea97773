import type { RequestListener, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ClientCall, type ClientReply, isClientCall, readClientCall } from './client-wire';

/** What answers at the address of a run. */
export interface CtxAnswers {
  /** Requests of HTTP, to the path and to paths below it. */
  http: RequestListener;
  /** Calls of the command-line client. Never rejects. */
  client(call: ClientCall): Promise<ClientReply>;
}

/** The run that a path belongs to, and its open connections. */
export interface CtxRun {
  answers: Pick<CtxAnswers, 'client'>;
  sockets: Set<Duplex>;
}

/**
 * Takes a connection. Its first bytes tell its protocol: that of the command-line client, or HTTP, which `http` reads then.
 * @param heard called when nobody waits for bytes of a call any more
 */
export function takeConnection(
  socket: Duplex,
  http: Server,
  runOf: (path: string) => CtxRun | undefined,
  heard: () => void = () => undefined,
): void {
  socket.once('data', (first: Buffer) => {
    if (isClientCall(first)) {
      socket.pause();
      socket.unshift(first);
      return void answerClient(socket, runOf, heard);
    }
    heard();
    // As packages/http/src/side-door.ts does it: a buffer would start a paused connection again.
    socket.read(0);
    http.emit('connection', socket);
    socket.emit('data', first);
  });
}

/** A connection of the client carries one call. */
async function answerClient(
  socket: Duplex,
  runOf: (path: string) => CtxRun | undefined,
  heard: () => void,
): Promise<void> {
  const call = await readClientCall(socket, (path) => {
    const run = runOf(path);
    run?.sockets.add(socket);
    return run !== undefined;
  });
  heard();
  const run = call && runOf(call.path);
  if (!run) return void socket.destroy();
  const { head, text } = await run.answers.client(call);
  socket.end(head + text);
  run.sockets.delete(socket);
}
