import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type ClientCall, type ClientReply, isClientCall, readClientCall } from './client-wire';

/** The address of a run at the host. */
export interface CtxPlace {
  /** Address without a path. */
  origin: string;
  /** Closes the address and the open connections to it. */
  close(): void;
}

/** What answers at the address of a run. */
export interface CtxAnswers {
  /** Requests of HTTP, to the path and to paths below it. */
  http: RequestListener;
  /** Calls of the command-line client. Never rejects. */
  client(call: ClientCall): Promise<ClientReply>;
}

/** The single address for ctx calls of all runs of a worker, so that network rules can name its port. */
export interface CtxHost {
  /** @returns its port at 127.0.0.1 */
  listen(): Promise<number>;
  /** Passes requests and calls to this path to `answers`. The host must be listening. */
  open(path: string, answers: CtxAnswers): CtxPlace;
  close(): void;
}

interface Run {
  answers: CtxAnswers;
  sockets: Set<Socket>;
}

/** Time for which a connection may say nothing before its call, or amid it. */
const SILENCE_MS = 60_000;

/**
 * One port for two protocols: HTTP, and the one of the command-line client, whose answers a shell reads with two commands
 * (client-wire.ts). The first bytes of a connection tell which it is.
 */
export function createCtxHost(): CtxHost {
  const runs = new Map<string, Run>();
  const runOf = (path: string): Run | undefined => runs.get(`/${path.split('/', 2)[1] ?? ''}`);
  const http = createHttpServer((request, response) => {
    const run = runOf(request.url ?? '');
    if (!run) return void response.writeHead(404).end();
    run.sockets.add(request.socket);
    run.answers.http(request, response);
  });
  http.keepAliveTimeout = 60_000;
  const open = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    open.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => open.delete(socket));
    socket.setTimeout(SILENCE_MS, () => socket.destroy());
    socket.once('data', (first) => {
      socket.pause();
      socket.unshift(first);
      if (isClientCall(first)) void answerClient(socket, runOf);
      else handOver(http, socket);
    });
  });
  return {
    listen: () =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
      }),
    open: (path, answers) => {
      const run: Run = { answers, sockets: new Set() };
      runs.set(path, run);
      return {
        origin: `http://localhost:${(server.address() as AddressInfo).port}`,
        close: () => {
          runs.delete(path);
          for (const socket of run.sockets) socket.destroy();
        },
      };
    },
    close: () => {
      server.close();
      http.close();
      for (const socket of open) socket.destroy();
    },
  };
}

/** Lets the server of HTTP read a connection that it has not accepted itself. */
function handOver(http: Server, socket: Socket): void {
  socket.setTimeout(0).removeAllListeners('timeout');
  http.emit('connection', socket);
  socket.resume();
}

/** A connection of the client carries one call. */
async function answerClient(socket: Socket, runOf: (path: string) => Run | undefined): Promise<void> {
  const call = await readClientCall(socket, (path) => {
    const run = runOf(path);
    run?.sockets.add(socket);
    return run !== undefined;
  });
  socket.setTimeout(0);
  const run = call && runOf(call.path);
  if (!run) return void socket.destroy();
  const { head, text } = await run.answers.client(call);
  socket.end(head + text);
  run.sockets.delete(socket);
}
