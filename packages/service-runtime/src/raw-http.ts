import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorBody, type HttpApp, type PlainAnswer } from '@baton/http';
import { AppError, type Log } from '@baton/kernel';
import type { HttpHandle } from './infra-types';

const SWEEP_MS = 50;
const MAX_HEADER_BYTES = 32 * 1024;

function answerPlain(response: ServerResponse, produce: () => Promise<PlainAnswer>, log: Log): void {
  produce().then(
    (plain) => response.writeHead(plain.status, { 'content-type': plain.contentType }).end(plain.body),
    (error) => {
      log.error({ err: error }, 'plain path failed');
      response.writeHead(500).end();
    },
  );
}

/** What Node's parser refuses never becomes a request: its answer is JSON as every other. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const isTooLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const refusal = new AppError(
    'bad_parameters_error',
    isTooLarge ? 'The address and headers of the request are too long' : 'The request is no HTTP',
    { expected: isTooLarge ? `at most ${MAX_HEADER_BYTES} bytes` : 'HTTP/1.1' },
  );
  const body = JSON.stringify(errorBody(refusal));
  const status = isTooLarge ? '431 Request Header Fields Too Large' : '400 Bad Request';
  const head = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close`;
  socket.end(`HTTP/1.1 ${status}\r\n${head}\r\n\r\n${body}`);
}

/** A bare node:http server around a service that handles requests itself (gateway), with the plain paths in front. */
export function withPlainPaths(
  handler: HttpHandle,
  plain: Record<string, (url: string) => Promise<PlainAnswer>>,
  log: Log,
): HttpApp {
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const url = request.url ?? '';
    const path = url.split('?', 1)[0]!;
    const produce = Object.hasOwn(plain, path) ? plain[path] : undefined;
    if (produce && request.method === 'GET') answerPlain(response, () => produce(url), log);
    else handler(request, response);
  };
  // Uploads may take longer than Node's default of 5 minutes for a whole request.
  const server = createServer(
    { requestTimeout: 0, keepAliveTimeout: 72_000, maxHeaderSize: MAX_HEADER_BYTES },
    handle,
  );
  server.on('clientError', refuseUnreadable);
  return {
    handle,
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          const address = server.address();
          resolve(typeof address === 'object' && address ? address.port : port);
        });
      }),
    close: () =>
      new Promise((resolve) => {
        if (!server.listening) return resolve();
        // Connections whose last answer is sent only now would be kept alive otherwise.
        const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
        server.close(() => {
          clearInterval(sweep);
          resolve();
        });
      }),
  };
}
