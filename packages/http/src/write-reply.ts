/** The last step of an answer: status, headers and bytes onto the response of node:http. */
import type { ServerResponse } from 'node:http';
import { finished, type Readable } from 'node:stream';

/** Names in small letters; what the edge has set before stays unless it is named here. */
export type ReplyHeaders = Record<string, string | number>;

/** An answer without a body. A length is said unless the status forbids it. */
export function replyEmpty(response: ServerResponse, status: number, headers: ReplyHeaders): void {
  if (status !== 204 && status !== 304) headers['content-length'] = 0;
  response.writeHead(status, headers).end();
}

/** A body that is there as a whole. */
export function replyWhole(
  response: ServerResponse,
  status: number,
  headers: ReplyHeaders,
  body: string | Buffer,
): void {
  headers['content-length'] = Buffer.byteLength(body);
  response.writeHead(status, headers).end(body);
}

/**
 * A body that comes as a stream. The head goes out with its first byte: until then `fail` may answer an error (a file that
 * is not there), and the headers of the stream are taken back. Later only the broken connection can tell the client.
 */
export function replyStream(
  response: ServerResponse,
  status: number,
  headers: ReplyHeaders,
  stream: Readable,
  fail: (error: Error) => void,
): void {
  const names = Object.keys(headers);
  response.statusCode = status;
  for (const name of names) response.setHeader(name, headers[name]!);
  let isOpen = true;
  finished(stream, { writable: false }, (error) => {
    isOpen = false;
    if (!error) return;
    if (response.headersSent || response.destroyed) return void response.destroy();
    for (const name of names) response.removeHeader(name);
    fail(error);
  });
  finished(response, () => {
    if (isOpen) stream.destroy();
  });
  stream.pipe(response);
}
