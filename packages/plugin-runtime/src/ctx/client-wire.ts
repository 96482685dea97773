/**
 * The protocol of the command-line client (`bin/ctx`): a shell reads the answer with two commands, and reading the head of
 * an answer of HTTP costs it half a millisecond.
 *
 *     CTX <path> <args|lines> <bytes>\n<body>      a call; the body holds netstrings (ctx-client-calls.ts)
 *     <exit code> <bytes of the text, or ->\n<text>     the answer; `-`: until the end of the connection
 */
import type { Duplex } from 'node:stream';
import { FatalError } from '@baton/plugin-sdk';

export interface ClientCall {
  path: string;
  /** Whether each line of the text is a call. */
  isLines: boolean;
  /** @throws FatalError for a body that is too large */
  body(): Buffer;
}

export interface ClientReply {
  head: string;
  text: string;
}

export const MAX_BODY_BYTES = 32 * 1024 * 1024;
/** An answer up to this size is told to the client as one text; it passes a longer one through. */
const MAX_TEXT_BYTES = 64 * 1024;
const MAX_HEAD_BYTES = 512;
const BEGIN = Buffer.from('CTX ');
const HEAD = /^CTX (\/[\w/-]{1,200}) (args|lines) (\d{1,12})\n/;

export function isClientCall(first: Buffer): boolean {
  return first.subarray(0, BEGIN.length).equals(BEGIN);
}

export function clientReply({ text, exit }: { text: string; exit: number }): ClientReply {
  const bytes = Buffer.byteLength(text);
  // A shell cannot hold a NUL.
  const isShort = bytes <= MAX_TEXT_BYTES && !text.includes('\0');
  return { head: `${exit} ${isShort ? bytes : '-'}\n`, text };
}

/**
 * Reads a call. Null: it is malformed, its connection has ended, or `isKnown` does not know its path. A body that is too
 * large is read to its end, so that the client receives the error.
 */
export async function readClientCall(
  socket: Duplex,
  isKnown: (path: string) => boolean,
): Promise<ClientCall | null> {
  let head: RegExpExecArray | null = null;
  let size = 0;
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (!head) {
        const begin = Buffer.concat(chunks);
        head = HEAD.exec(begin.toString('latin1', 0, MAX_HEAD_BYTES));
        if (!head && begin.length < MAX_HEAD_BYTES && !begin.includes('\n')) continue;
        if (!head || !isKnown(head[1] ?? '')) return null;
        chunks.splice(0, chunks.length, begin.subarray(head[0].length));
        size = begin.length - head[0].length;
      }
      const bytes = Number(head[3]);
      if (bytes > MAX_BODY_BYTES) chunks.length = 0;
      if (size < bytes) continue;
      return { path: head[1] ?? '', isLines: head[2] === 'lines', body: () => wholeBody(chunks, bytes) };
    }
  } catch {
    // The client has gone.
  }
  return null;
}

/** @throws FatalError for a body that is too large */
export function wholeBody(chunks: readonly Buffer[], bytes: number): Buffer {
  if (bytes > MAX_BODY_BYTES)
    throw new FatalError(`one call of ctx may carry ${MAX_BODY_BYTES} bytes, this one has ${bytes}`);
  return Buffer.concat(chunks).subarray(0, bytes);
}
