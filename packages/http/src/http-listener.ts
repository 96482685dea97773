/** The socket side of an Express application: a server of node:http or node:https that can be stopped gracefully. */
import { createServer, type RequestListener, type ServerOptions } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { AppError, type ErrorCode } from '@baton/kernel';
import type { ServerTls } from '@baton/tls';
import { errorBody } from './error-body';
import { messageClasses } from './express-app';
import { type SideDoor, splitConnections } from './side-door';

const SWEEP_MS = 50;

export interface HttpListener {
  /** Port 0 takes a free one; resolves to the port. */
  listen(host: string, port: number): Promise<number>;
  /** Accepts no new connections, closes idle ones, and resolves when the last one has ended. */
  close(): Promise<void>;
}

export interface ListenerOptions extends ServerOptions {
  /** Most bytes of the request line and all headers. */
  maxHeaderSize: number;
}

/** How long the first bytes of a connection may take where the options say nothing. */
const FIRST_BYTES_MS = 10_000;

/**
 * `handler` gets messages of the classes that Express needs. `tls` absent: no TLS. `door`: takes the connections that are meant for
 * it.
 */
export function createListener(
  handler: RequestListener,
  options: ListenerOptions,
  tls?: ServerTls | undefined,
  door?: SideDoor | undefined,
): HttpListener {
  const settings = { ...options, ...messageClasses };
  const secure = tls && createTlsServer({ ...settings, ...tls.options() }, handler);
  const server = secure ?? createServer(settings, handler);
  const detach = secure && tls.attach(secure);
  server.on('clientError', (error, socket) => refuseUnreadable(error, socket, options.maxHeaderSize));
  const closeUnknown =
    door &&
    splitConnections(server, {
      door,
      isTls: secure !== undefined,
      waitMs: options.headersTimeout ?? FIRST_BYTES_MS,
      onLate: (socket) => {
        if (secure) socket.destroy();
        else refuseUnreadable(new TooSlow(), socket, options.maxHeaderSize);
      },
    });
  return {
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
        detach?.();
        closeUnknown?.();
        if (!server.listening) return resolve();
        // A connection whose last answer is sent only now would be kept alive, and keep the server open, for another minute.
        const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
        server.close(() => {
          clearInterval(sweep);
          resolve();
        });
      }),
  };
}

/** As Node's own error for headers that came too slowly. */
class TooSlow extends Error {
  readonly code = TOO_SLOW;
}
const TOO_SLOW = 'ERR_HTTP_REQUEST_TIMEOUT';

interface Refusal {
  status: string;
  code: ErrorCode;
  message: string;
  expected: string;
}

/** Refusals of Node's parser, which never become a request: they are answered with JSON like all others. */
function refusalOf(code: string | undefined, maxHeaderBytes: number): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW')
    return {
      status: '431 Request Header Fields Too Large',
      code: 'bad_parameters_error',
      message: 'The address and headers of the request are too long',
      expected: `at most ${maxHeaderBytes} bytes`,
    };
  if (code === TOO_SLOW)
    return {
      status: '408 Request Timeout',
      code: 'request_body_timeout_error',
      message: 'The headers of the request came too slowly',
      expected: 'all headers at once',
    };
  return {
    status: '400 Bad Request',
    code: 'bad_parameters_error',
    message: 'The request is no HTTP',
    expected: 'HTTP/1.1',
  };
}

/** Answers what never became a request. */
export function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex, maxHeaderBytes: number): void {
  // Before the end of its handshake, nothing can be said to a client of TLS: an answer would wait for ever.
  const isShaking = (socket as { secureConnecting?: boolean }).secureConnecting === true;
  if (error.code === 'ECONNRESET' || isShaking || !socket.writable) return void socket.destroy();
  const { status, code, message, expected } = refusalOf(error.code, maxHeaderBytes);
  const body = JSON.stringify(errorBody(new AppError(code, message, { expected })));
  const head = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close`;
  socket.end(`HTTP/1.1 ${status}\r\n${head}\r\n\r\n${body}`);
}
