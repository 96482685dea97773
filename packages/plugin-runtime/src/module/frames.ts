/** Frames between the worker and the process of a TypeScript plugin: four bytes of length (big endian), then JSON in UTF-8. */

const HEAD_BYTES = 4;
/** Like one call of ctx of a script. */
export const MAX_FRAME_BYTES = 32 * 1024 * 1024;

/** The other side broke the rules of the wire; nothing after that can be understood. */
export class WireError extends Error {
  override readonly name = 'WireError';
}

/** @throws WireError when the value is too large for one frame, or is no JSON */
export function encodeFrame(value: object): Buffer {
  let text: string;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw new WireError(`a value cannot be written as JSON: ${(cause as Error).message}`, { cause });
  }
  const size = Buffer.byteLength(text);
  if (size > MAX_FRAME_BYTES)
    throw new WireError(`one message may carry ${MAX_FRAME_BYTES} bytes, this one has ${size}`);
  const frame = Buffer.allocUnsafe(HEAD_BYTES + size);
  frame.writeUInt32BE(size, 0);
  frame.write(text, HEAD_BYTES);
  return frame;
}

/** Puts frames together from chunks of a stream. It holds at most one frame and one chunk. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #held = 0;
  /** Bytes of the frame that is being read; null: its length is not known yet. */
  #size: number | null = null;

  /** Yields the frames that are complete with this chunk. @throws WireError for a frame that is too large or no object */
  *push(chunk: Buffer): Generator<Record<string, unknown>> {
    this.#chunks.push(chunk);
    this.#held += chunk.length;
    for (;;) {
      if (this.#size === null) {
        if (this.#held < HEAD_BYTES) return;
        this.#size = this.#take(HEAD_BYTES).readUInt32BE(0);
        if (this.#size > MAX_FRAME_BYTES)
          throw new WireError(`a message announces ${this.#size} bytes, at most ${MAX_FRAME_BYTES}`);
      }
      if (this.#held < this.#size) return;
      const body = this.#take(this.#size);
      this.#size = null;
      yield objectOf(body);
    }
  }

  #take(bytes: number): Buffer {
    const all = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks, this.#held);
    this.#chunks = all.length === bytes ? [] : [all.subarray(bytes)];
    this.#held -= bytes;
    return all.subarray(0, bytes);
  }
}

function objectOf(body: Buffer): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch (cause) {
    throw new WireError('a message is no JSON', { cause });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new WireError('a message is no object');
  return value as Record<string, unknown>;
}
