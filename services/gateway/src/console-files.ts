/** Serves the console: the files of dist/apps/console below /ui, and index.html for every other path there. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join, sep } from 'node:path';
import { namesTag } from '@baton/http';
import type { FixedHeaders } from './fixed-headers';
import { pageHeaders } from './security-headers';
import { etagOf, pathOf, setAll } from './static-answers';

/** A file with its compressed forms; each form is read when it is first requested. */
interface ServedFile {
  path: string;
  type: string;
  encodings: readonly Encoding[];
  forms: Map<Encoding | undefined, Form>;
}
interface Form {
  body: Buffer;
  etag: string;
}
type Encoding = 'br' | 'gzip';

/** Best encoding first; the build writes the compressed files beside the originals (apps/console/build/precompress.mjs). */
const ENDINGS: readonly [Encoding, string][] = [
  ['br', '.br'],
  ['gzip', '.gz'],
];
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
};
const INDEX = 'index.html';
/** Folder of the files whose names hold a digest of their content. */
const ASSETS = 'assets/';

const SECURITY_HEADERS = pageHeaders({
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'", 'data:', 'blob:'],
  connectSrc: ["'self'"],
  workerSrc: ["'self'"],
  fontSrc: ["'self'"],
  baseUri: ["'none'"],
  formAction: ["'self'"],
  frameAncestors: ["'none'"],
});
const NOT_BUILT = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Baton</title></head>
<body>
<h1>The console is not built</h1>
<p>This manager has no files of the console. Run <code>npm run build</code> and load this page again.
The REST API works without them: <a href="/api/docs">its documentation</a>.</p>
</body>
</html>
`;

/** Whether a path belongs to the console: `/ui` and everything below. */
export const isConsolePath = (path: string): boolean => path === '/ui' || path.startsWith('/ui/');

/** Returns dist/apps/console, seen from a bundle (dist/services/gateway, dist/apps/standalone) or from the sources. */
function consoleFolder(): string {
  const besideBundles = join(__dirname, '../../apps/console');
  return existsSync(join(besideBundles, INDEX))
    ? besideBundles
    : join(__dirname, '../../../dist/apps/console');
}

/**
 * Answers GET and HEAD below /ui. Only names that were found in the folder are served, so no path leads out of it. The folder is
 * read at the first request; while it has no index.html, each request reads it again.
 */
export function createConsoleFiles(
  fixedHeaders: FixedHeaders = () => [],
  folder: () => string = consoleFolder,
): (request: IncomingMessage, response: ServerResponse) => void {
  let files = new Map<string, ServedFile>();
  return (request, response) => {
    if (!files.has(INDEX)) files = filesOf(folder());
    const name = nameOf(request.url!);
    // Only names below assets/ can be missing files: below other paths, ids of resources may contain dots.
    const file = files.get(name) ?? (name.startsWith(ASSETS) ? undefined : files.get(INDEX));
    setAll(response, [...SECURITY_HEADERS, ...fixedHeaders(request)]);
    if (file) send(file, name.startsWith(ASSETS), request, response);
    else refuse(files.has(INDEX), response);
  };
}

/** Returns the part of the URL behind /ui/ as it was sent: names of files need no decoding. */
const nameOf = (url: string): string => pathOf(url).slice('/ui/'.length);

function filesOf(folder: string): Map<string, ServedFile> {
  if (!existsSync(join(folder, INDEX))) return new Map();
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .split(sep)
        .join('/'),
    );
  const all = new Set(names);
  const isForm = (name: string) => ENDINGS.some(([, ending]) => name.endsWith(ending));
  return new Map(
    names
      .filter((name) => !isForm(name))
      .map((name) => [
        name,
        {
          path: join(folder, name),
          type: TYPES[extname(name)] ?? 'application/octet-stream',
          encodings: ENDINGS.filter(([, ending]) => all.has(name + ending)).map(([encoding]) => encoding),
          forms: new Map(),
        },
      ]),
  );
}

function send(
  file: ServedFile,
  isImmutable: boolean,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const encoding = encodingFor(request.headers['accept-encoding'] ?? '', file.encodings);
  const { body, etag } = formOf(file, encoding);
  setAll(response, [
    'cache-control',
    isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    'etag',
    etag,
    'vary',
    'accept-encoding',
  ]);
  if (namesTag(request.headers['if-none-match'], etag)) {
    response.writeHead(304).end();
    return;
  }
  if (encoding) response.setHeader('content-encoding', encoding);
  // node:http itself omits the body of an answer to HEAD.
  response.writeHead(200, { 'content-type': file.type, 'content-length': body.length }).end(body);
}

function formOf({ path, forms }: ServedFile, encoding: Encoding | undefined): Form {
  let form = forms.get(encoding);
  if (!form) {
    const body = readFileSync(path + (ENDINGS.find(([one]) => one === encoding)?.[1] ?? ''));
    form = { body, etag: etagOf(body) };
    forms.set(encoding, form);
  }
  return form;
}

/** Returns the first encoding that the client accepts; `q=0` refuses an encoding. */
function encodingFor(accepted: string, encodings: readonly Encoding[]): Encoding | undefined {
  const taken = new Set(
    accepted
      .toLowerCase()
      .split(',')
      .map((part) => part.trim().split(/\s*;\s*/))
      .filter(([, weight]) => !/^q=0(\.0*)?$/.test(weight ?? ''))
      .map(([name]) => name),
  );
  return encodings.find((encoding) => taken.has(encoding));
}

function refuse(isBuilt: boolean, response: ServerResponse): void {
  const body = isBuilt ? 'No such file of the console\n' : NOT_BUILT;
  response
    .writeHead(isBuilt ? 404 : 503, {
      'cache-control': 'no-store',
      'content-type': isBuilt ? 'text/plain; charset=utf-8' : TYPES['.html'],
      'content-length': Buffer.byteLength(body),
    })
    .end(body);
}
