import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RawJson } from '@baton/kernel';
import { packedHeader, packPieces } from './packed-answer';
import { type ReplyHeaders, replyWhole } from './write-reply';

/** Up to this size, or with pieces this small, it is cheaper to join an answer than to write it in pieces. */
const JOINED_BYTES = 64 * 1024;
const JOINED_PIECE = 4 * 1024;
/** Smaller raw texts are joined with the text before them. */
const LEAST_PIECE = 1024;
/** Up to this size an answer is sent as one text: with its head it is one write, and packing would save nothing that counts. */
const ONE_TEXT = 8 * 1024;

/** Returns the parts as one text, or null when they are longer than `ONE_TEXT`. */
function shortText(parts: readonly (string | RawJson)[]): string | null {
  let size = 0;
  for (const part of parts) {
    size += typeof part === 'string' ? part.length : part.size;
    if (size > ONE_TEXT) return null;
  }
  let text = '';
  for (const part of parts) text += typeof part === 'string' ? part : part.text;
  return text;
}

/** Returns the bytes of the parts; texts and small raw texts are joined. The bytes of large raw texts are not copied. */
function piecesOf(parts: readonly (string | RawJson)[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let text = '';
  for (const part of parts) {
    if (typeof part === 'string') text += part;
    else if (part.size < LEAST_PIECE) text += part.text;
    else {
      if (text !== '') pieces.push(Buffer.from(text, 'utf8'));
      pieces.push(part.bytes);
      text = '';
    }
  }
  if (text !== '') pieces.push(Buffer.from(text, 'utf8'));
  return pieces;
}

/** Sends a JSON answer in parts (`jsonParts`); large parts go to the socket in one write, without a copy. */
export function sendParts(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: ReplyHeaders,
  parts: readonly (string | RawJson)[],
): void {
  const [only] = parts;
  if (parts.length === 1 && typeof only === 'string') return replyWhole(response, status, headers, only);
  const short = shortText(parts);
  if (short !== null) return replyWhole(response, status, headers, short);
  const whole = piecesOf(parts);
  const packed = request.headers[packedHeader] === undefined ? null : packPieces(whole);
  if (packed) headers[packedHeader] = packed.layoutBytes;
  const pieces = packed?.pieces ?? whole;
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (bytes <= JOINED_BYTES || bytes < JOINED_PIECE * pieces.length)
    return replyWhole(response, status, headers, Buffer.concat(pieces, bytes));
  if (response.destroyed) return;
  response.writeHead(status, { ...headers, 'content-length': bytes });
  response.cork();
  for (const piece of pieces.slice(0, -1)) response.write(piece);
  // Ended only when it was sent: a server that stops closes connections whose answer is ended, sent or not.
  response.write(pieces.at(-1), () => response.end());
  response.uncork();
}
