import { systemClock } from '@baton/kernel';
import { FatalError } from '../errors';

/** An address for people: no query, which may hold secrets, and no credentials. */
export const shownUrl = (url: URL): string => `${url.origin}${url.pathname}`;

/** Milliseconds of a Retry-After in seconds or as a date; undefined: there is none that can be read. */
export function retryAfterMs(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - systemClock.now());
}

/** Reads a body. @throws FatalError when it is longer than `maxBytes` */
export async function textWithin(response: Response, maxBytes: number, name: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += piece.length;
    if (bytes > maxBytes) throw new FatalError(`${name} answered more than ${maxBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}
