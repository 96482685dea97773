/** An HTTPS server without a port: another server hands it connections. */
import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { messageClasses } from './express-app';
import { type ListenerOptions, refuseUnreadable } from './http-listener';

export interface HandedServer {
  /** For its events, and for new certificates. */
  server: Server;
  /** Takes a connection on which nothing was read, or whose first bytes were put back. */
  take(socket: Socket): void;
  /** Ends all requests and watches no more. */
  close(): void;
}

/** `handler` gets messages of the classes that Express needs. */
export function createHandedServer(
  handler: RequestListener,
  options: ListenerOptions & TlsOptions,
): HandedServer {
  const server = createServer({ ...options, ...messageClasses }, handler);
  server.on('clientError', (error, socket) => refuseUnreadable(error, socket, options.maxHeaderSize));
  // With this event the server begins to watch for headers that come too slowly.
  server.emit('listening');
  return {
    server,
    take: (socket) => void server.emit('connection', socket),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
