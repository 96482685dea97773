import { Readable } from 'node:stream';
import { RandomAccessReader } from 'yauzl';
import type { RandomAccessSource } from './source';

const PIECE_BYTES = 64 * 1024;

async function* piecesOf(source: RandomAccessSource, start: number, end: number): AsyncGenerator<Buffer> {
  for (let at = start; at < end; at += PIECE_BYTES)
    yield await source.read(at, Math.min(PIECE_BYTES, end - at));
}

/** A source as yauzl reads it. Small reads, as of the central directory, are served from a window that is read once. */
export class SourceReader extends RandomAccessReader {
  #window: { start: number; bytes: Buffer } = { start: 0, bytes: Buffer.alloc(0) };

  constructor(private readonly source: RandomAccessSource) {
    super();
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(piecesOf(this.source, start, end), { objectMode: false });
  }

  override read(
    target: Buffer,
    offset: number,
    length: number,
    position: number,
    done: (error: Error | null) => void,
  ): void {
    this.#bytes(position, length).then(
      (bytes) => {
        bytes.copy(target, offset);
        done(null);
      },
      (error: unknown) => done(error as Error),
    );
  }

  async #bytes(position: number, length: number): Promise<Buffer> {
    if (length > PIECE_BYTES) return this.source.read(position, length);
    const { start, bytes } = this.#window;
    if (position < start || position + length > start + bytes.length) {
      const size = Math.max(length, Math.min(PIECE_BYTES, this.source.size - position));
      this.#window = { start: position, bytes: await this.source.read(position, size) };
    }
    const from = position - this.#window.start;
    return this.#window.bytes.subarray(from, from + length);
  }
}
