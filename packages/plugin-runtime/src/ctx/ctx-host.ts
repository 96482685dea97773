import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

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
  /** Passes requests to this path and to paths below it to `answer`. The host must be listening. */
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
