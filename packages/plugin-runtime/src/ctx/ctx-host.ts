import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type CtxAnswers, type CtxRun, takeConnection } from './ctx-connection';

/** The address of a run at the host. */
export interface CtxPlace {
  /** Address without a path. */
  origin: string;
  /** Closes the address and the open connections to it. */
  close(): void;
}

/** The single address for ctx calls of all runs of a worker, so that network rules can name its port. */
export interface CtxHost {
  /** @returns its port at 127.0.0.1 */
  listen(): Promise<number>;
  /** Passes requests and calls to this path to `answers`. The host must be listening. */
  open(path: string, answers: CtxAnswers): CtxPlace;
  close(): void;
}

interface Run extends CtxRun {
  answers: CtxAnswers;
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
    takeConnection(socket, http, runOf, () => socket.setTimeout(0).removeAllListeners('timeout'));
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
