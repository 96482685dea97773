/** Serves a file over HTTP as RFC 9110 demands: validators, 304, one range of bytes, content type. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { AppError } from '@baton/kernel';
import { type Answer, answer } from './answer';
import { namesTag } from './entity-tag';
import { errorBody } from './error-body';

export interface ByteRange {
  start: number;
  end: number;
}

export interface ServedFile {
  /** Its extension determines the content type. */
  name: string;
  /** Bytes. */
  size: number;
  /** Identifies the content (a digest): equal tags mean equal bytes. */
  tag: string;
  /** ISO 8601. */
  modifiedAt: string;
  /** Called only when bytes are sent. */
  open(range?: ByteRange): Promise<Readable> | Readable;
}

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  gif: 'image/gif',
  gz: 'application/gzip',
  htm: 'text/html; charset=utf-8',
  html: 'text/html; charset=utf-8',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  log: 'text/plain; charset=utf-8',
  md: 'text/markdown; charset=utf-8',
  pdf: 'application/pdf',
  png: 'image/png',
  svg: 'image/svg+xml',
  tar: 'application/x-tar',
  tgz: 'application/gzip',
  txt: 'text/plain; charset=utf-8',
  webp: 'image/webp',
  xml: 'text/xml; charset=utf-8',
  yaml: 'text/yaml; charset=utf-8',
  yml: 'text/yaml; charset=utf-8',
  zip: 'application/zip',
};

export function contentTypeOf(name: string): string {
  const ending = /\.([^./]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(TYPES, ending) ? TYPES[ending]! : 'application/octet-stream';
}

/** Users wrote these files: a browser that opens one must not run its code with the manager's origin. */
const UNTRUSTED = "sandbox; default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'";

/** Answers GET of `file` according to the request headers. HEAD is handled as a GET whose body the edge leaves out. */
export async function serveFile(request: IncomingHttpHeaders, file: ServedFile): Promise<Answer> {
  const etag = `"${file.tag}"`;
  const modified = new Date(file.modifiedAt).toUTCString();
  const headers = { etag, 'last-modified': modified, 'cache-control': 'private, no-cache' };
  if (isUnchanged(request, etag, modified)) return answer({ status: 304, headers });
  const range = rangeOf(request, file.size, etag, modified);
  if (range === 'unsatisfiable') return unsatisfiable(file.size);
  const length = range ? range.end - range.start + 1 : file.size;
  return answer({
    status: range ? 206 : 200,
    headers: {
      ...headers,
      'accept-ranges': 'bytes',
      'content-security-policy': UNTRUSTED,
      ...(range ? { 'content-range': `bytes ${range.start}-${range.end}/${file.size}` } : {}),
    },
    stream: await file.open(range ?? undefined),
    length,
    contentType: contentTypeOf(file.name),
  });
}

function unsatisfiable(size: number): Answer {
  const error = new AppError(
    'range_not_satisfiable_error',
    `The file has ${size} bytes; the range begins behind them`,
    { expected: `a range below ${size}` },
  );
  return answer({ status: 416, headers: { 'content-range': `bytes */${size}` }, body: errorBody(error) });
}

/** RFC 9110 13.2.2: when If-None-Match is sent, it alone decides. */
function isUnchanged(request: IncomingHttpHeaders, etag: string, modified: string): boolean {
  const tags = request['if-none-match'];
  if (tags !== undefined) return tags.split(',').some((tag) => tag.trim() === '*') || namesTag(tags, etag);
  const since = Date.parse(request['if-modified-since'] ?? '');
  return !Number.isNaN(since) && Date.parse(modified) <= since;
}

/** Returns the requested range; null: the whole file, also for several ranges and for units other than bytes. */
function rangeOf(
  request: IncomingHttpHeaders,
  size: number,
  etag: string,
  modified: string,
): ByteRange | null | 'unsatisfiable' {
  const match = /^bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15}))$/.exec(request.range ?? '');
  if (!match || !isSame(request['if-range'], etag, modified)) return null;
  const [, first, last, suffix] = match;
  if (suffix !== undefined) {
    const length = Math.min(Number(suffix), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  const end = last === undefined ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== undefined && Number(last) < start) return null;
  return start >= size ? 'unsatisfiable' : { start, end };
}

/** If-Range: the range is wanted only if the file is the one that the client knows. */
function isSame(condition: string | string[] | undefined, etag: string, modified: string): boolean {
  return condition === undefined || condition === etag || condition === modified;
}
