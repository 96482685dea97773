/** What the gateway answers itself: the API's description, its documentation pages, the page at the root. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import type { RouteContract } from '@baton/contracts';
import { openApiDocument } from '@baton/http';

interface Page {
  type: string;
  body: Buffer;
  etag: string;
}

/** Files of swagger-ui that its page needs; nothing is fetched from elsewhere. */
const SWAGGER_FILES: Record<string, string> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

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
<p>The REST API is below <code>/api/v3.1</code>; <a href="/api/docs">its documentation</a>,
<a href="/api/openapi.json">its OpenAPI description</a>.</p>
</body>
</html>
`;

const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  // swagger-ui draws its icons from data URLs; the styles that it sets through the DOM are no inline styles.
  'content-security-policy':
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

export interface Pages {
  /** Answers a GET or HEAD of one of the pages; false: not one of them. */
  answer(path: string, request: IncomingMessage, response: ServerResponse): boolean;
}

/**
 * `fixedHeaders` are on each page as on every answer. What a page is made of is looked for when it is first asked for, so
 * `answer` may throw: the caller answers 500.
 */
export function createPages(
  routes: readonly RouteContract[],
  version: string,
  fixedHeaders: Readonly<Record<string, string>> = {},
): Pages {
  const built = new Map<string, Page>();
  const makers = pageMakers(routes, version);
  return {
    answer(path, request, response) {
      const make = Object.hasOwn(makers, path) ? makers[path] : undefined;
      if (!make || (request.method !== 'GET' && request.method !== 'HEAD')) return false;
      let page = built.get(path);
      if (!page) {
        const { type, body } = make();
        page = {
          type,
          body,
          etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
        };
        built.set(path, page);
      }
      write(page, fixedHeaders, request, response);
      return true;
    },
  };
}

function pageMakers(
  routes: readonly RouteContract[],
  version: string,
): Record<string, () => { type: string; body: Buffer }> {
  const html = (text: string) => () => ({ type: 'text/html; charset=utf-8', body: Buffer.from(text) });
  const makers: Record<string, () => { type: string; body: Buffer }> = {
    '/': html(ROOT_HTML),
    '/api/docs': html(DOCS_HTML),
    '/api/docs/start.js': () => ({ type: 'text/javascript; charset=utf-8', body: Buffer.from(DOCS_SCRIPT) }),
    '/api/openapi.json': () => ({
      type: 'application/json',
      body: Buffer.from(JSON.stringify(openApiDocument(routes, { title: 'Baton', version }))),
    }),
  };
  for (const [file, type] of Object.entries(SWAGGER_FILES)) {
    makers[`/api/docs/${file}`] = () => ({ type, body: readFileSync(join(swaggerFolder(), file)) });
  }
  return makers;
}

/** Beside the bundle (tools/build.mjs puts the files there), or the package where the sources run. */
function swaggerFolder(): string {
  const besideBundle = join(__dirname, 'swagger-ui');
  return existsSync(besideBundle) ? besideBundle : dirname(require.resolve('swagger-ui-dist/package.json'));
}

function write(
  { type, body, etag }: Page,
  fixedHeaders: Readonly<Record<string, string>>,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const headers = { ...fixedHeaders, ...SECURITY_HEADERS, etag, 'cache-control': 'no-cache' };
  if (request.headers['if-none-match'] === etag) {
    response.writeHead(304, headers).end();
    return;
  }
  response.writeHead(200, { ...headers, 'content-type': type, 'content-length': body.length }).end(body);
}
