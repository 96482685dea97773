/**
 * The file of a recording: gzip of one JSON document a line. While it is made it is `FILE.part`, a gzip member for each step, and
 * `FILE.part.json` says how many of its bytes are whole: a recorder that died goes on after them.
 */
import {
  closeSync,
  createReadStream,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createInterface } from 'node:readline';
import { createGunzip, gzipSync } from 'node:zlib';
import { CommandFailure } from '../failure';

export interface Header {
  kind: 'header';
  format: 'baton-recording';
  version: 1;
  url: string;
  manager_version: string;
  started_at: string;
  /** Of the digests in place of credentials. */
  salt: string;
}
export interface Page {
  kind: 'page';
  what: string;
  tenant: string | null;
  offset: number;
  /** Objects in all pages, when this one was read. */
  total: number;
  /** How many objects were answered; `items` has those of the tenant. */
  read: number;
  items: Record<string, unknown>[];
}
export interface Answer {
  kind: 'answer';
  what: string;
  tenant: string;
  id: string;
  item: Record<string, unknown>;
}
export interface Count {
  kind: 'count';
  what: string;
  tenant: string;
  total: number;
}
/** Something that the manager did not answer. */
export interface Gap {
  kind: 'gap';
  what: string;
  tenant: string | null;
  id: string | null;
  status: number;
  code: string;
  text: string;
}
export interface End {
  kind: 'end';
  ended_at: string;
  counts: Record<string, number>;
}
export type Line = Header | Page | Answer | Count | Gap | End;

/** Reads the lines of a recording. @throws CommandFailure for a file that is none, or is damaged */
export async function* readRecording(path: string, bytes?: number): AsyncGenerator<Line> {
  if (!existsSync(path)) throw new CommandFailure(`${path}: there is no such file`);
  if (bytes === 0) return;
  const source = createReadStream(path, bytes === undefined ? {} : { end: bytes - 1 });
  const text = source.pipe(createGunzip());
  source.on('error', (error) => text.destroy(error));
  let number = 0;
  try {
    for await (const line of createInterface({ input: text, crlfDelay: Number.POSITIVE_INFINITY })) {
      number++;
      const parsed = JSON.parse(line) as Line;
      if (number === 1) requireHeader(path, parsed);
      yield parsed;
    }
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    throw new CommandFailure(
      `${path}: line ${number + (error instanceof SyntaxError ? 0 : 1)} cannot be read (${(error as Error).message}); expected a recording of baton import record`,
    );
  } finally {
    source.destroy();
  }
}

function requireHeader(path: string, line: Line): void {
  if (line.kind !== 'header' || line.format !== 'baton-recording')
    throw new CommandFailure(`${path}: it is no recording; expected a file of baton import record`);
  if (line.version !== 1)
    throw new CommandFailure(
      `${path}: it is a recording of version ${String(line.version)}; this program reads version 1`,
    );
}

export interface RecordingWriter {
  /** Lines that an earlier run has left; read them before the first `append`. */
  earlier(): AsyncGenerator<Line>;
  /** Writes lines; when it returns they are on the disk. */
  append(lines: readonly Line[]): void;
  /** Gives the file its name. */
  finish(): void;
  close(): void;
}

/** Opens the file of a recording for writing. @throws CommandFailure when it is finished already */
export function openRecording(path: string): RecordingWriter {
  if (existsSync(path))
    throw new CommandFailure(
      `${path} exists; expected the name of a new file, or of an unfinished recording`,
    );
  const part = `${path}.part`;
  const note = `${part}.json`;
  const whole = existsSync(part) && existsSync(note) ? wholeBytes(note) : 0;
  // Only its owner may read it: it shows inputs and runtime properties.
  const file = openSync(part, existsSync(part) ? 'r+' : 'w+', 0o600);
  ftruncateSync(file, whole);
  let bytes = whole;
  return {
    earlier: () => readRecording(part, whole),
    append(lines) {
      const member = gzipSync(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      writeSync(file, member, 0, member.length, bytes);
      fsyncSync(file);
      bytes += member.length;
      // Written whole: a reader sees the old note or the new one.
      writeFileSync(`${note}.new`, JSON.stringify({ bytes }), { mode: 0o600 });
      renameSync(`${note}.new`, note);
    },
    finish() {
      renameSync(part, path);
      rmSync(note, { force: true });
    },
    close: () => closeSync(file),
  };
}

function wholeBytes(note: string): number {
  const { bytes } = JSON.parse(readFileSync(note, 'utf8')) as { bytes: unknown };
  return typeof bytes === 'number' && Number.isSafeInteger(bytes) && bytes >= 0 ? bytes : 0;
}
