import { packedHeader } from '@baton/http';
import type { ForwardRequest } from './forward';

/** Of one connection, or set by the gateway itself. */
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
  /** Of a packed answer. */
  layoutBytes: string | null;
}

/** A text, or its bytes. */
interface Latin1 {
  toString(encoding?: 'latin1'): string;
}

/** Headers of the answer to a client: `raw` are [name, value, ...] of the service's answer. */
export function answerHeaders(
  raw: readonly Latin1[],
  request: Pick<ForwardRequest, 'answerHeaders' | 'unlessSaid'>,
): AnswerHeaders {
  const headers: string[] = [];
  let layoutBytes: string | null = null;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!.toString('latin1').toLowerCase();
    const value = raw[i + 1]!.toString('latin1');
    if (!NOT_COPIED.has(name)) headers.push(name, value);
    else if (name === packedHeader) layoutBytes = value;
  }
  headers.push(...request.answerHeaders);
  for (let i = 0; i < request.unlessSaid.length; i += 2)
    if (!headers.includes(request.unlessSaid[i]!))
      headers.push(request.unlessSaid[i]!, request.unlessSaid[i + 1]!);
  return { headers, layoutBytes };
}
