/**
 * A file of records that is written ahead: each record has its length and a check sum, and the room for further ones is
 * allocated before it is needed, so that the end of an operation can be recorded on a full disk.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';

/** No text in UTF-8 contains these bytes. */
const MAGIC = Buffer.from([0xb4, 0xf7, 0xff, 0x01]);
const HEAD = 12;
const MAX_RECORD_BYTES = 32 * 1024 * 1024;
const GROW_BYTES = 256 * 1024;

export interface Scan {
  records: Buffer[];
  /** Where each record begins. */
  offsets: number[];
  /** Where the next record goes. */
  end: number;
  /** Something that was not written whole lies at the end; it never counted. */
  isTorn: boolean;
  /** Between good records lies something that is none: the disk, or somebody, has changed it. */
  isDamaged: boolean;
}

/** Returns the payload of the record that begins at `at`; null: there is no whole record. */
function recordAt(data: Buffer, at: number): Buffer | null {
  if (at + HEAD > data.length || data.compare(MAGIC, 0, MAGIC.length, at, at + MAGIC.length) !== 0)
    return null;
  const length = data.readUInt32LE(at + 4);
  if (length > MAX_RECORD_BYTES || at + HEAD + length > data.length) return null;
  const payload = data.subarray(at + HEAD, at + HEAD + length);
  return crc32(payload) === data.readUInt32LE(at + 8) ? payload : null;
}

/** Finds all whole records. */
export function scanRecords(data: Buffer): Scan {
  const scan: Scan = { records: [], offsets: [], end: 0, isTorn: false, isDamaged: false };
  for (let at = 0; ; ) {
    const payload = recordAt(data, at);
    if (payload) {
      scan.records.push(payload);
      scan.offsets.push(at);
      at += HEAD + payload.length;
      scan.end = at;
      continue;
    }
    const rest = data.subarray(at);
    let next = data.indexOf(MAGIC, at + 1);
    while (next >= 0 && !recordAt(data, next)) next = data.indexOf(MAGIC, next + 1);
    if (next < 0) {
      scan.isTorn = rest.some((byte) => byte !== 0);
      return scan;
    }
    scan.isDamaged = true;
    at = next;
  }
}

export function frameOf(payload: Buffer): Buffer {
  const head = Buffer.alloc(HEAD);
  MAGIC.copy(head);
  head.writeUInt32LE(payload.length, 4);
  head.writeUInt32LE(crc32(payload), 8);
  return Buffer.concat([head, payload]);
}

/** Whether a disk has no room; then the record is not written. */
export const isFull = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException | null)?.code ?? '');

interface Append {
  frame: Buffer;
  isSynced: boolean;
  keepFree: number;
  resolve: () => void;
  reject: (error: unknown) => void;
}

export interface RecordFile {
  readonly bytes: number;
  /**
   * Appends a record after all earlier ones. `isSynced`: resolves when it is on the disk. `keepFree`: bytes of room that must be
   * allocated behind it. @throws Error of the disk (`isFull`); the record is then not in the file
   */
  append(payload: Buffer, o: { isSynced: boolean; keepFree?: number }): Promise<void>;
  /** Waits for the records that are being written. */
  close(): Promise<void>;
}

/** Makes a new file with these records and room for `free` bytes; null: its room grows with its records. @throws Error of the disk */
export async function createRecordFile(
  path: string,
  records: readonly Buffer[],
  free: number | null,
): Promise<RecordFile> {
  const handle = await open(path, 'wx+', 0o600);
  try {
    const data = Buffer.concat(records.map(frameOf));
    await writeAll(handle, Buffer.concat([data, Buffer.alloc(free ?? 0)]), 0);
    await handle.sync();
    return new Appender(handle, data.length, free === null ? Number.POSITIVE_INFINITY : data.length + free);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Goes on with a file whose records end at `end`; what lies behind them is cleared. @throws Error of the disk */
export async function reopenRecordFile(path: string, end: number): Promise<RecordFile> {
  const handle = await open(path, 'r+');
  const { size } = await handle.stat();
  await writeAll(handle, Buffer.alloc(Math.max(0, size - end)), end);
  await handle.datasync();
  return new Appender(handle, end, size);
}

async function writeAll(handle: FileHandle, data: Buffer, position: number): Promise<void> {
  for (let done = 0; done < data.length; )
    done += (await handle.write(data, done, data.length - done, position + done)).bytesWritten;
}

class Appender implements RecordFile {
  #handle: FileHandle;
  #end: number;
  #allocated: number;
  #waiting: Append[] = [];
  #writing: Promise<void> | null = null;

  constructor(handle: FileHandle, end: number, allocated: number) {
    this.#handle = handle;
    this.#end = end;
    this.#allocated = allocated;
  }

  get bytes(): number {
    return this.#end;
  }

  append(payload: Buffer, o: { isSynced: boolean; keepFree?: number }): Promise<void> {
    return new Promise((resolve, reject) => {
      const { isSynced, keepFree = 0 } = o;
      this.#waiting.push({ frame: frameOf(payload), isSynced, keepFree, resolve, reject });
      this.#writing ??= this.#pump();
    });
  }

  async close(): Promise<void> {
    while (this.#writing) await this.#writing;
    await this.#handle.close();
  }

  /** Records that arrive while others are written share the next write. */
  async #pump(): Promise<void> {
    await Promise.resolve();
    while (this.#waiting.length > 0) await this.#write(this.#waiting.splice(0));
    this.#writing = null;
  }

  async #write(batch: Append[]): Promise<void> {
    const fit = await this.#fitting(batch);
    if (fit.length === 0) return;
    try {
      const data = Buffer.concat(fit.map(({ frame }) => frame));
      await writeAll(this.#handle, data, this.#end);
      if (fit.some(({ isSynced }) => isSynced)) await this.#handle.datasync();
      this.#end += data.length;
      for (const { resolve } of fit) resolve();
    } catch (error) {
      for (const { reject } of fit) reject(error);
    }
  }

  /** Returns the records that have room; the others are rejected. */
  async #fitting(batch: Append[]): Promise<Append[]> {
    const fit: Append[] = [];
    let end = this.#end;
    for (const one of batch) {
      const need = end + one.frame.length + one.keepFree;
      try {
        if (need > this.#allocated) await this.#grow(need);
        fit.push(one);
        end += one.frame.length;
      } catch (error) {
        one.reject(error);
      }
    }
    return fit;
  }

  async #grow(need: number): Promise<void> {
    const bytes = Math.max(GROW_BYTES, need - this.#allocated);
    await writeAll(this.#handle, Buffer.alloc(bytes), this.#allocated);
    await this.#handle.sync();
    this.#allocated += bytes;
  }
}
