import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http';

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[] | undefined;

/**
 * Lists of v1 were bare arrays: makes `response` answer the items of the envelope that is written to it. Errors pass
 * as they are. The answer is held back until it is complete; a page is at most a few MB.
 */
export function unwrapList(response: ServerResponse): void {
  const { writeHead, end } = response;
  const chunks: Buffer[] = [];
  let status = 200;
  let headers: Headers;
  const keep = (chunk: unknown): void => {
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk as string));
  };
  response.writeHead = ((code: number, given?: Headers) => {
    status = code;
    headers = given;
    return response;
  }) as ServerResponse['writeHead'];
  response.write = ((chunk: unknown) => {
    keep(chunk);
    return true;
  }) as ServerResponse['write'];
  response.end = ((chunk?: unknown) => {
    keep(chunk);
    const text = Buffer.concat(chunks).toString('utf8');
    const body = status === 200 ? itemsOf(text) : text;
    response.writeHead = writeHead;
    response.end = end;
    response.removeHeader('content-length');
    response.writeHead(status, withoutLength(headers) as OutgoingHttpHeaders);
    return response.end(body);
  }) as ServerResponse['end'];
}

function itemsOf(text: string): string {
  try {
    const { items } = JSON.parse(text);
    return Array.isArray(items) ? JSON.stringify(items) : text;
  } catch {
    // Not JSON after all: what the service wrote is the answer.
    return text;
  }
}

function withoutLength(headers: Headers): Headers {
  if (!headers) return headers;
  if (!Array.isArray(headers)) {
    return Object.fromEntries(
      Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'content-length'),
    );
  }
  const kept: OutgoingHttpHeader[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    if (String(headers[i]).toLowerCase() !== 'content-length') kept.push(headers[i]!, headers[i + 1]!);
  }
  return kept;
}
