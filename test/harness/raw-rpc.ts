/** A manual gRPC client over HTTP/2: sends any bytes to any path. */
import { connect, constants } from 'node:http2';

export interface RawAnswer {
  /** The error code of the API; `ok`; `grpc <number>` for an answer in another format; or the reason for a missing answer. */
  code: string;
  message: string;
}

export interface RawRpc {
  /** Sends `body`: unchanged if `isFramed`, else after the five bytes of a message frame. */
  call(path: string, headers: Record<string, string>, body: Buffer, isFramed?: boolean): Promise<RawAnswer>;
  close(): void;
}

/** Longer than any limit of the services themselves. */
const ANSWER_MS = 30_000;
const TOKEN = 'x-baton-caller';

const framed = (message: Buffer): Buffer => {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
};

/** Creates a client. `address`: host:port of a service. The next call reconnects a broken connection. */
export function rawRpc(address: string): RawRpc {
  const open = () => {
    const session = connect(`http://${address}`);
    session.on('error', () => undefined);
    return session;
  };
  let session = open();
  return {
    call: (path, headers, body, isFramed = false) => {
      if (session.closed || session.destroyed) session = open();
      return new Promise((resolve) => {
        const stream = session.request({
          [constants.HTTP2_HEADER_METHOD]: 'POST',
          [constants.HTTP2_HEADER_PATH]: path,
          'content-type': 'application/grpc',
          te: 'trailers',
          'grpc-timeout': `${ANSWER_MS / 1000 - 10}S`,
          ...headers,
        });
        let found: Record<string, unknown> = {};
        const end = (code: string, message = ''): void => {
          clearTimeout(timer);
          resolve({ code, message });
        };
        const timer = setTimeout(() => {
          stream.close(constants.NGHTTP2_CANCEL);
          end('no answer in time');
        }, ANSWER_MS);
        stream.on('response', (given) => (found = { ...found, ...given }));
        stream.on('trailers', (given) => (found = { ...found, ...given }));
        stream.on('error', (error: Error) => end('connection lost', error.message));
        stream.on('close', () => {
          const status = found['grpc-status'];
          const code = status === '0' ? 'ok' : (found['baton-code'] ?? `grpc ${String(status)}`);
          end(String(code), decodeURIComponent(String(found['grpc-message'] ?? '')));
        });
        stream.resume();
        stream.end(isFramed ? body : framed(body));
      });
    },
    close: () => session.destroy(),
  };
}

/** Sends one call and returns the code of its answer. */
export async function statusOfRpc(
  address: string,
  path: string,
  token: string,
  message: Buffer,
): Promise<string> {
  const rpc = rawRpc(address);
  try {
    return (await rpc.call(path, { [TOKEN]: token }, message)).code;
  } finally {
    rpc.close();
  }
}
