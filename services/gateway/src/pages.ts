/** Pages that the gateway serves itself: the description of the API, its documentation pages, the page at the root, the console. */
import { existsSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import type { RouteContract } from '@baton/contracts';
import { openApiDocument } from '@baton/http';
import express, { type Request, type RequestHandler, type Response, Router } from 'express';
import { createConsoleFiles, isConsolePath } from './console-files';
import type { FixedHeaders } from './fixed-headers';
import { pageHeaders } from './security-headers';
import { etagOf, pathOf, setAll } from './static-answers';

interface Page {
  type: string;
  body: Buffer;
  etag: string;
}

/** Files of swagger-ui that its page needs; nothing is loaded from other servers. */
const SWAGGER_FILES = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'];

const DOCS_HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Baton API</title>
<link rel="icon" type="image/png" href="/api/docs/favicon-32x32.png">
<link rel="stylesheet" href="/api/docs/swagger-ui.css">
</head>
<body>
<div id="api"></div>
<script src="/api/docs/swagger-ui-bundle.js"></script>
<script src="/api/docs/start.js"></script>
</body>
</html>
`;
const DOCS_SCRIPT = `SwaggerUIBundle({ url: '/api/openapi.json', dom_id: '#api', deepLinking: true, docExpansion: 'none' });
`;
const ROOT_HTML = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Baton</title></head>
<body>
<h1>Baton</h1>
<p><a href="/ui/">The console</a>.</p>
<p>The REST API is below <code>/api/v3.1</code>; <a href="/api/docs">its documentation</a>,
<a href="/api/openapi.json">its OpenAPI description</a>.</p>
</body>
</html>
`;

/**
 * Short address of the console's page for codes, which people type from another screen. No tenant has the name `-`. Browsers keep the
 * fragment, which may hold the code.
 */
const DEVICE = '/device';
const DEVICE_PAGE = '/ui/-/device';

const SECURITY_HEADERS = pageHeaders({
  defaultSrc: ["'self'"],
  // swagger-ui draws its icons from data URLs. Styles that it sets through the DOM do not count as inline styles.
  imgSrc: ["'self'", 'data:'],
  objectSrc: ["'none'"],
  baseUri: ["'none'"],
  formAction: ["'self'"],
  frameAncestors: ["'none'"],
});
/** Clients ask for a page each time, and get 304 when their copy is current. */
const PAGE_HEADERS = [...SECURITY_HEADERS, 'cache-control', 'no-cache'];

/**
 * Answers GET and HEAD of the pages and passes every other request on. `fixedHeaders` are set on each page, as on every answer. The
 * files of a page are looked up at its first request: a missing file does not stop the gateway.
 */
export function createPages(
  routes: readonly RouteContract[],
  version: string,
  fixedHeaders: FixedHeaders = () => [],
): RequestHandler {
  const router = Router({ caseSensitive: true, strict: true });
  for (const [path, make] of Object.entries(pageMakers(routes, version))) {
    let page: Page | undefined;
    router.get(path, (request, response) => {
      page ??= pageOf(make());
      write(page, fixedHeaders, request, response);
    });
  }
  router.get(DEVICE, (request, response) => {
    setAll(response, [...PAGE_HEADERS, ...fixedHeaders(request)]);
    response.writeHead(303, { location: DEVICE_PAGE, 'content-length': 0 }).end();
  });
  let files: RequestHandler | undefined;
  for (const file of SWAGGER_FILES)
    router.get(`/api/docs/${file}`, (request, response, next) => {
      files ??= swaggerFiles(fixedHeaders);
      request.url = `/${file}`;
      // The file is checked anyway, whatever cache-control the request has: a client with a current copy still gets 304.
      delete request.headers['cache-control'];
      files(request, response, next);
    });
  const consoleFiles = createConsoleFiles(fixedHeaders);
  return (request, response, next) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') next();
    // Before the router, which refuses paths that it cannot decode.
    else if (isConsolePath(pathOf(request.url))) consoleFiles(request, response);
    else router(request, response, next);
  };
}

interface MadePage {
  type: string;
  body: Buffer;
}

function pageMakers(routes: readonly RouteContract[], version: string): Record<string, () => MadePage> {
  const html = (text: string) => () => ({ type: 'text/html; charset=utf-8', body: Buffer.from(text) });
  return {
    '/': html(ROOT_HTML),
    '/api/docs': html(DOCS_HTML),
    '/api/docs/start.js': () => ({ type: 'text/javascript; charset=utf-8', body: Buffer.from(DOCS_SCRIPT) }),
    '/api/openapi.json': () => ({
      type: 'application/json',
      body: Buffer.from(JSON.stringify(openApiDocument(routes, { title: 'Baton', version }))),
    }),
  };
}

const pageOf = ({ type, body }: MadePage): Page => ({ type, body, etag: etagOf(body) });

/**
 * Returns the folder of the swagger-ui files: beside the bundle (tools/build.mjs puts them there), or the npm package when the
 * sources run.
 */
function swaggerFolder(): string {
  const besideBundle = join(__dirname, 'swagger-ui');
  return existsSync(besideBundle) ? besideBundle : dirname(require.resolve('swagger-ui-dist/package.json'));
}

/** Serves the folder as it is on disk; routes request only the files that they name. */
const swaggerFiles = (fixedHeaders: FixedHeaders): RequestHandler =>
  express.static(swaggerFolder(), {
    index: false,
    redirect: false,
    cacheControl: false,
    acceptRanges: false,
    lastModified: false,
    setHeaders: (response: ServerResponse) =>
      setAll(response, [...PAGE_HEADERS, ...fixedHeaders((response as Response).req)]),
  });

function write(
  { type, body, etag }: Page,
  fixedHeaders: FixedHeaders,
  request: Request,
  response: Response,
): void {
  setAll(response, [...PAGE_HEADERS, ...fixedHeaders(request), 'etag', etag]);
  if (request.headers['if-none-match'] === etag) {
    response.writeHead(304).end();
    return;
  }
  response.writeHead(200, { 'content-type': type, 'content-length': body.length }).end(body);
}
