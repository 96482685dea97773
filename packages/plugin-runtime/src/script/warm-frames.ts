/** A message of python/baton_server.py, which says what the kinds mean. */
export interface Frame {
  kind: string;
  content: Buffer;
}

const HEAD_BYTES = 5;
/** The server sends less; it belongs to the tenant, so it may send anything. */
const MAX_CONTENT_BYTES = 64 * 1024;

/** What a server sent is no frame. */
class FrameError extends Error {
  override readonly name = 'FrameError';
}

/** Reads frames from a stream; stops when it ends. @throws FrameError */
export async function* readFrames(stream: AsyncIterable<Buffer>): AsyncGenerator<Frame> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of stream) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= HEAD_BYTES) {
      const length = rest.readUInt32BE(1);
      const kind = rest.toString('latin1', 0, 1);
      if (!'hcsoex'.includes(kind) || length > MAX_CONTENT_BYTES)
        throw new FrameError(`no frame of a Python server: ${kind}, ${length} bytes`);
      if (rest.length < HEAD_BYTES + length) break;
      yield { kind, content: rest.subarray(HEAD_BYTES, HEAD_BYTES + length) };
      rest = rest.subarray(HEAD_BYTES + length);
    }
  }
}
