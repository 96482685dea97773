/** Shared code of the pages and files that the gateway serves itself. */
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';

/** Returns the path of a URL as it was sent, without its query. */
export function pathOf(url: string): string {
  const mark = url.indexOf('?');
  return mark < 0 ? url : url.slice(0, mark);
}

/** Returns the ETag of a content, with its quotes. */
export const etagOf = (body: Buffer): string =>
  `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;

/** `headers`: [name, value, ...]. */
export function setAll(response: ServerResponse, headers: readonly string[]): void {
  for (let i = 0; i < headers.length; i += 2) response.setHeader(headers[i]!, headers[i + 1]!);
}
