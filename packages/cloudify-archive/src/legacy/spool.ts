import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Line } from './lines';

/** Where a row stands in the spool. */
export interface Spot {
  position: number;
  length: number;
}

const HEAD_BYTES = 8;
/** A bucket is written out when it holds this much, and all of them when together they hold MAX_BUFFERED_BYTES. */
const BUCKET_BYTES = 32 * 1024;
const MAX_BUFFERED_BYTES = 32 * 2 ** 20;

interface Bucket {
  spots: Spot[];
  pieces: Buffer[];
  bytes: number;
}

/**
 * Rows of a dump, sorted into buckets while the dump is read once, and read again bucket by bucket: the dump is compressed and cannot
 * be read from the middle. The rows are in a file without a name, so that nothing is left of them, however the process ends.
 */
export class Spool {
  readonly #buckets = new Map<string, Bucket>();
  #pending: Buffer[] = [];
  #written = 0;
  #pendingBytes = 0;
  #bufferedBytes = 0;

  private constructor(private readonly file: FileHandle) {}

  static async create(): Promise<Spool> {
    const folder = await mkdtemp(join(tmpdir(), 'baton-import-'));
    try {
      return new Spool(await open(join(folder, 'rows'), 'wx+', 0o600));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** Adds a row to a bucket. The bytes are copied. */
  add(bucketName: string, line: Line): void {
    let bucket = this.#buckets.get(bucketName);
    if (!bucket) this.#buckets.set(bucketName, (bucket = { spots: [], pieces: [], bytes: 0 }));
    const framed = frame(line);
    bucket.pieces.push(framed);
    bucket.bytes += framed.length;
    this.#bufferedBytes += framed.length;
    if (bucket.bytes >= BUCKET_BYTES) this.#close(bucket);
    if (this.#bufferedBytes >= MAX_BUFFERED_BYTES) for (const one of this.#buckets.values()) this.#close(one);
  }

  /** Keeps a single row, to be read by its spot. */
  keep(line: Line): Spot {
    return this.#append([frame(line)]);
  }

  /** Writes what waits; to be called again and again while rows are added. */
  async drain(minBytes = 2 ** 20): Promise<void> {
    if (this.#pendingBytes < minBytes || this.#pendingBytes === 0) return;
    const bytes = Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    let done = 0;
    while (done < bytes.length) {
      const { bytesWritten } = await this.file.write(bytes, done, bytes.length - done, this.#written + done);
      done += bytesWritten;
    }
    this.#written += bytes.length;
  }

  /** To be called when all rows are added. */
  async finish(): Promise<void> {
    for (const bucket of this.#buckets.values()) this.#close(bucket);
    await this.drain(0);
  }

  /** Rows of a bucket, in the order in which they were added. */
  async *rows(bucketName: string): AsyncGenerator<Line, void, void> {
    for (const spot of this.#buckets.get(bucketName)?.spots ?? []) yield* unframed(await this.#read(spot));
  }

  bucketNames(): IterableIterator<string> {
    return this.#buckets.keys();
  }

  async row(spot: Spot): Promise<Line> {
    const [line] = unframed(await this.#read(spot));
    return line!;
  }

  async close(): Promise<void> {
    await this.file.close();
  }

  #close(bucket: Bucket): void {
    if (bucket.bytes === 0) return;
    bucket.spots.push(this.#append(bucket.pieces));
    this.#bufferedBytes -= bucket.bytes;
    bucket.pieces = [];
    bucket.bytes = 0;
  }

  #append(pieces: readonly Buffer[]): Spot {
    const position = this.#written + this.#pendingBytes;
    for (const piece of pieces) {
      this.#pending.push(piece);
      this.#pendingBytes += piece.length;
    }
    return { position, length: this.#written + this.#pendingBytes - position };
  }

  async #read({ position, length }: Spot): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(length);
    let done = 0;
    while (done < length) {
      const { bytesRead } = await this.file.read(bytes, done, length - done, position + done);
      if (bytesRead === 0) throw new Error('the spool of rows ends too early');
      done += bytesRead;
    }
    return bytes;
  }
}

function frame({ bytes, number }: Line): Buffer {
  const framed = Buffer.allocUnsafe(HEAD_BYTES + bytes.length);
  framed.writeUInt32LE(bytes.length, 0);
  framed.writeUInt32LE(number >>> 0, 4);
  bytes.copy(framed, HEAD_BYTES);
  return framed;
}

function* unframed(bytes: Buffer): Generator<Line, void, void> {
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt32LE(at);
    const number = bytes.readUInt32LE(at + 4);
    yield { bytes: bytes.subarray(at + HEAD_BYTES, at + HEAD_BYTES + length), number };
    at += HEAD_BYTES + length;
  }
}
