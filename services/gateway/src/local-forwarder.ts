import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServiceName } from '@baton/contracts';
import type { Forwarder } from './forward';
import { unavailable } from './forward-refusals';

export type LocalHandle = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Forwarding inside one process (standalone): the service's own app answers the same request object, with the headers of a
 * forwarded request.
 */
export function createLocalForwarder(handleOf: (service: ServiceName) => LocalHandle | null): Forwarder {
  return {
    forward(request, incoming, response, fail) {
      const handle = handleOf(request.service);
      if (!handle) return fail(unavailable(request.service));
      incoming.url = request.url;
      incoming.method = request.method;
      replaceHeaders(incoming, request.headers);
      // The service may overwrite these headers afterwards.
      setHeaders(response, request.unlessSaid);
      setHeaders(response, request.answerHeaders);
      handle(incoming, response);
    },
    close: async () => undefined,
  };
}

function setHeaders(response: ServerResponse, headers: readonly string[]): void {
  for (let i = 0; i < headers.length; i += 2) response.setHeader(headers[i]!, headers[i + 1]!);
}

function replaceHeaders(incoming: IncomingMessage, headers: readonly string[]): void {
  // The headers that frame the body belong to this connection and are still needed to read it.
  const { 'content-length': length, 'transfer-encoding': coding, host } = incoming.headers;
  for (const name of Object.keys(incoming.headers)) delete incoming.headers[name];
  for (let i = 0; i < headers.length; i += 2) incoming.headers[headers[i]!] = headers[i + 1]!;
  if (length !== undefined) incoming.headers['content-length'] = length;
  if (coding !== undefined) incoming.headers['transfer-encoding'] = coding;
  if (host !== undefined) incoming.headers.host = host;
}
