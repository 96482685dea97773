import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import type { ReplacedParts } from '../run/replaced-parts';
import { type ExecOptions, type ExecResult, type RunProgram, runProgram } from '../tools/exec';
import { type Received, type Send, type Sending, sendByNode } from '../tools/http-send';
import { Tape } from './tape';
import { TestFailure } from './test-failure';

interface HttpEntry {
  status: number;
  headers: Record<string, string>;
  setCookies: readonly string[];
  /** Text, or base64 of bytes that are no text. */
  body: string | { base64: string };
}

interface ExecEntry {
  exitCode: number;
  /** Lines in the order in which they came. */
  lines: ['stdout' | 'stderr', string][];
}

/** Recorded answers of servers and programs. */
export interface Cassette {
  /** What stands for the outside in operations of a test node. `secrets`: of the test, by name. */
  parts(secrets: Readonly<Record<string, string>>): ReplacedParts;
  /** Writes what was recorded; a test node does it after each run. */
  save(): Promise<void>;
  /** Whether the real servers and programs answer now. */
  readonly isRecording: boolean;
}

export interface CassetteOptions {
  /** Default: the environment variable BATON_RECORD is 1. */
  record?: boolean;
}

/** Headers that differ each time, or say how the answer was sent. */
const NOT_KEPT = new Set([
  ...[
    'date',
    'connection',
    'keep-alive',
    'transfer-encoding',
    'content-length',
    'content-encoding',
    'set-cookie',
  ],
]);

/**
 * A file with answers of servers and programs. With BATON_RECORD=1 the real ones answer, and the file is written; else the file
 * answers, in its order. Secrets never come into the file: those of the test, sensitive and hidden values of the operation, values of
 * JSON answers with names such as `token`, and headers of requests.
 * @throws TestFailure (later) for a request that is not in the file, with the nearest one
 */
export function cassette(
  path: string,
  { record = process.env.BATON_RECORD === '1' }: CassetteOptions = {},
): Cassette {
  const tape = new Tape(path);
  return {
    isRecording: record,
    save: async () => {
      if (record) await tape.save();
    },
    parts: (secrets) => {
      for (const [name, value] of Object.entries(secrets)) tape.secrets.give(name, value);
      return {
        send: record ? recordedSend(tape) : replayedSend(tape),
        run: record ? recordedRun(tape) : replayedRun(tape),
        onHidden: (value) => tape.secrets.hide(value),
      };
    },
  };
}

/** Text of bytes; null: they are no UTF-8. */
function textOf(bytes: Uint8Array): string | null {
  const text = Buffer.from(bytes).toString('utf8');
  return Buffer.from(text).equals(Buffer.from(bytes)) ? text : null;
}

function requestText(tape: Tape, { method, url, body, headers }: Sending): string {
  const kind = headers['content-type'] === undefined ? '' : ` (${headers['content-type']})`;
  if (body === undefined) return `${method} ${url.href}${kind}`;
  const text = typeof body === 'string' ? body : textOf(body);
  if (text !== null) return `${method} ${url.href}${kind} ${JSON.stringify(text)}`;
  const bytes = tape.secrets.without(Buffer.from(body).toString('latin1'));
  return `${method} ${url.href}${kind} bytes ${createHash('sha256').update(bytes, 'latin1').digest('hex')}`;
}

/** @throws TestFailure for bytes that hold a hidden value: nobody could take it out */
function bodyOf(tape: Tape, bytes: Buffer, name: string): HttpEntry['body'] {
  const text = textOf(bytes);
  if (text !== null) return text;
  const all = bytes.toString('latin1');
  if (tape.secrets.without(all) !== all)
    throw new TestFailure(`the answer to ${name} holds a secret within bytes: it cannot be recorded`);
  return { base64: bytes.toString('base64') };
}

const recordedSend =
  (tape: Tape): Send =>
  async (sending) => {
    const received = await sendByNode(sending);
    const pieces: Uint8Array[] = [];
    for await (const piece of received.body) pieces.push(piece as Uint8Array);
    const body = Buffer.concat(pieces);
    const headers = Object.fromEntries(
      Object.entries(received.headers).filter(([name]) => !NOT_KEPT.has(name)),
    );
    for (const line of received.setCookies)
      tape.secrets.hide(line.split(';')[0]!.split('=').slice(1).join('='));
    const { status, setCookies } = received;
    const asked = requestText(tape, sending);
    tape.add(asked, { status, headers, setCookies, body: bodyOf(tape, body, asked) } satisfies HttpEntry);
    return { ...received, body: Readable.from([body]) };
  };

const replayedSend =
  (tape: Tape): Send =>
  async (sending): Promise<Received> => {
    const { status, headers, setCookies, body } = await tape.answer<HttpEntry>(requestText(tape, sending));
    const bytes = typeof body === 'string' ? Buffer.from(body) : Buffer.from(body.base64, 'base64');
    return { status, headers, setCookies, body: Readable.from([bytes]) };
  };

function programText(file: string, args: readonly string[], { input }: ExecOptions): string {
  return `${[basename(file), ...args].map((part) => JSON.stringify(part)).join(' ')}${input === undefined ? '' : ` < ${JSON.stringify(input)}`}`;
}

const recordedRun =
  (tape: Tape): RunProgram =>
  async (file, args, options) => {
    const lines: ExecEntry['lines'] = [];
    const onLine: ExecOptions['onLine'] = (line, stream) => {
      lines.push([stream, line]);
      options.onLine?.(line, stream);
    };
    const result = await runProgram(file, args, { ...options, onLine });
    tape.add(programText(file, args, options), { exitCode: result.exitCode, lines });
    return result;
  };

const replayedRun =
  (tape: Tape): RunProgram =>
  async (file, args, options): Promise<ExecResult> => {
    const { exitCode, lines } = await tape.answer<ExecEntry>(programText(file, args, options));
    for (const [stream, line] of lines) options.onLine?.(line, stream);
    const of = (wanted: string): string =>
      lines.flatMap(([stream, line]) => (stream === wanted ? [`${line}\n`] : [])).join('');
    return { exitCode, stdout: of('stdout'), stderr: of('stderr') };
  };
