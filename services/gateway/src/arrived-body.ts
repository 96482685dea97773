import type { IncomingMessage } from 'node:http';

/** The gateway waits for bodies up to this size; larger bodies are passed on while they arrive. */
const SHORT_BYTES = 16 * 1024;

/**
 * Waits until a short body has arrived whole, or the first SHORT_BYTES of a longer one; no bytes are taken out of the stream. The
 * gateway takes a connection to the service only afterwards: a client that never ends its body holds no connection.
 * Resolves to false when the client disconnects first.
 */
export function bodyHasCome(request: IncomingMessage): boolean | Promise<boolean> {
  if (isHere(request)) return true;
  return new Promise((resolve) => {
    const end = (hasCome: boolean): void => {
      request.off('readable', look);
      request.off('close', left);
      resolve(hasCome);
    };
    const look = (): void => {
      if (isHere(request)) end(true);
    };
    const left = (): void => end(request.complete);
    request.on('readable', look);
    request.once('close', left);
  });
}

function isHere(request: IncomingMessage): boolean {
  return request.complete || request.readableLength >= Math.min(SHORT_BYTES, request.readableHighWaterMark);
}
