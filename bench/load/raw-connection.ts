import { connect, type Socket } from 'node:net';

/** A keep-alive HTTP connection with one open request at a time. It parses only the necessary part of an answer. */
export interface RawConnection {
  /** Resolves with the status and the length of the body when the answer is complete. */
  send(request: Buffer): Promise<{ status: number; bytes: number }>;
  close(): void;
}

interface Pending {
  resolve(answer: { status: number; bytes: number }): void;
  reject(error: Error): void;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n');
const EMPTY = Buffer.alloc(0);
const READ_BYTES = 256 * 1024;

export async function openConnection(host: string, port: number): Promise<RawConnection> {
  let pending: Pending | null = null;
  let reader = createReader();
  const onData = (chunk: Buffer): void => {
    const answer = reader(chunk);
    if (!answer || !pending) return;
    const { resolve } = pending;
    pending = null;
    reader = createReader();
    resolve(answer);
  };
  const socket = await new Promise<Socket>((resolve, reject) => {
    // One buffer for all reads: the generator must be cheap compared with the measured program.
    const onread = {
      buffer: Buffer.allocUnsafe(READ_BYTES),
      callback: (size: number, buffer: Uint8Array): boolean => {
        onData((buffer as Buffer).subarray(0, size));
        return true;
      },
    };
    const opened = connect({ host, port, noDelay: true, onread }, () => resolve(opened));
    opened.once('error', reject);
  });
  const fail = (error: Error): void => {
    pending?.reject(error);
    pending = null;
  };
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('the server closed the connection')));
  return {
    send: (request) =>
      new Promise((resolve, reject) => {
        pending = { resolve, reject };
        socket.write(request);
      }),
    close: () => socket.destroy(),
  };
}

/** Returns a function that receives the chunks of one answer and returns its figures with the last chunk; it keeps no chunk. */
function createReader(): (chunk: Buffer) => { status: number; bytes: number } | null {
  let head: Buffer = EMPTY;
  let status = 0;
  let left = -1;
  let bytes = 0;
  let tail: Buffer = EMPTY;
  const body = (chunk: Buffer): { status: number; bytes: number } | null => {
    bytes += chunk.length;
    if (left >= 0) {
      left -= chunk.length;
      return left <= 0 ? { status, bytes } : null;
    }
    tail = Buffer.concat([tail, chunk]).subarray(-LAST_CHUNK.length);
    return tail.equals(LAST_CHUNK) ? { status, bytes } : null;
  };
  return (chunk) => {
    if (status > 0) return body(chunk);
    head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
    const end = head.indexOf(HEAD_END);
    if (end < 0) {
      head = Buffer.from(head);
      return null;
    }
    const text = head.toString('latin1', 0, end);
    status = Number(text.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
    left = length === undefined ? -1 : Number(length);
    // If the body consists only of the last chunk, the empty line belongs to the end mark of that chunk.
    if (left < 0) tail = Buffer.from(head.subarray(end + 2, end + 4));
    return body(head.subarray(end + HEAD_END.length));
  };
}
