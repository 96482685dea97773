import type { IncomingMessage } from 'node:http';

/** Bodies up to so many bytes are waited for; what is larger is passed on while it comes. */
const SHORT_BYTES = 16 * 1024;

/**
 * Resolves when a short body has come whole, or that much of a longer one; nothing of it is taken out. A service, and a
 * connection to it, are asked for only then: a client that never ends its body holds neither.
 * Resolves to false when the client goes away first.
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
