import { packedHeader } from '@baton/http';
import type { ForwardRequest } from './forward';

/** Headers that are not copied from the service's answer: they belong to one connection, or the gateway sets them itself. */
const NOT_COPIED = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'x-request-id',
  packedHeader,
]);

export interface AnswerHeaders {
  /** [name, value, ...], names in small letters. */
  headers: string[];
  /** Value of content-length; null when the answer has none. */
  bodyBytes: number | null;
  /** Layout size of a packed answer; null when the answer is not packed. */
  layoutBytes: string | null;
}

/** A header as a string or as a Buffer. */
interface Latin1 {
  toString(encoding?: 'latin1'): string;
}

/** Returns the headers of the answer to the client. `raw`: [name, value, ...] of the service's answer. */
export function answerHeaders(
  raw: readonly Latin1[],
  request: Pick<ForwardRequest, 'answerHeaders' | 'unlessSaid'>,
): AnswerHeaders {
  const headers: string[] = [];
  let bodyBytes: number | null = null;
  let layoutBytes: string | null = null;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!.toString('latin1').toLowerCase();
    const value = raw[i + 1]!.toString('latin1');
    if (name === 'content-length') bodyBytes = Number(value);
    if (!NOT_COPIED.has(name)) headers.push(name, value);
    else if (name === packedHeader) layoutBytes = value;
  }
  headers.push(...request.answerHeaders);
  for (let i = 0; i < request.unlessSaid.length; i += 2)
    if (!headers.includes(request.unlessSaid[i]!))
      headers.push(request.unlessSaid[i]!, request.unlessSaid[i + 1]!);
  return { headers, bodyBytes, layoutBytes };
}
