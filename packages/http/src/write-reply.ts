/** Writes an answer: status, headers and bytes, to the response of node:http. */
import type { ServerResponse } from 'node:http';
import { finished, type Readable } from 'node:stream';

/** Header names in lower case; headers that the edge has set before stay unless they are named here. */
export type ReplyHeaders = Record<string, string | number | string[]>;

/** Sends an answer without a body, with a length of 0 unless the status forbids a length. */
export function replyEmpty(response: ServerResponse, status: number, headers: ReplyHeaders): void {
  if (status !== 204 && status !== 304) headers['content-length'] = 0;
  response.writeHead(status, headers).end();
}

/** Sends a complete body. A text of ASCII alone goes out as Latin-1, which costs least: its bytes are its characters. */
export function replyWhole(
  response: ServerResponse,
  status: number,
  headers: ReplyHeaders,
  body: string | Buffer,
): void {
  const bytes = Buffer.byteLength(body);
  headers['content-length'] = bytes;
  response.writeHead(status, headers).end(body, bytes === body.length ? 'latin1' : 'utf8');
}

/**
 * Sends a body from a stream. The head is sent with the first byte. Until then `fail` may send an error (a missing file), and the
 * headers of the stream are removed. Later only a broken connection can tell the client.
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
