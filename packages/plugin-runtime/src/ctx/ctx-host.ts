import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A run that is called at the host. */
export interface CtxPlace {
  /** Without a path. */
  origin: string;
  /** Nobody reaches it any more, and whoever still talks to it is cut off. */
  close(): void;
}

/** The one address at which all runs of a worker are called, so that rules of the network can name its port. */
export interface CtxHost {
  /** @returns its port of 127.0.0.1 */
  listen(): Promise<number>;
  /** Requests to the path and to those below it are for `answer`. It must listen. */
  open(path: string, answer: RequestListener): CtxPlace;
  close(): void;
}

interface Run {
  answer: RequestListener;
  sockets: Set<Socket>;
}

export function createCtxHost(): CtxHost {
  const runs = new Map<string, Run>();
  const server = createServer((request, response) => {
    const run = runs.get(`/${request.url?.split('/', 2)[1] ?? ''}`);
    if (!run) return void response.writeHead(404).end();
    run.sockets.add(request.socket);
    run.answer(request, response);
  });
  server.keepAliveTimeout = 60_000;
  return {
    listen: () =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
      }),
    open: (path, answer) => {
      const run: Run = { answer, sockets: new Set() };
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
      server.closeAllConnections();
    },
  };
}
