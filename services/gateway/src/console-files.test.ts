import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gzipSync } from 'node:zlib';
import { createConsoleFiles, isConsolePath } from './console-files';

const dir = mkdtempSync(join(tmpdir(), 'baton-console-'));
const built = join(dir, 'built');
const INDEX = '<!doctype html><title>console</title>';
const SCRIPT = 'console.log("console")';
const folder = built;
let server: Server;

beforeAll(async () => {
  mkdirSync(join(built, 'assets'), { recursive: true });
  writeFileSync(join(dir, 'secret.txt'), 'outside');
  writeFileSync(join(built, 'index.html'), INDEX);
  writeFileSync(join(built, 'favicon.svg'), '<svg/>');
  writeFileSync(join(built, 'assets/main-abc.js'), SCRIPT);
  writeFileSync(join(built, 'assets/main-abc.js.br'), brotliCompressSync(SCRIPT));
  writeFileSync(join(built, 'assets/main-abc.js.gz'), gzipSync(SCRIPT));
  const serve = createConsoleFiles(
    () => ['x-fixed', 'yes'],
    () => folder,
  );
  server = createServer(serve).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
});
afterAll(() => {
  server.close();
  rmSync(dir, { recursive: true, force: true });
});

interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

/** Uses http.request because it sends paths unchanged. */
function ask(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, headers, method }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(parts) }),
      );
    })
      .on('error', reject)
      .end();
  });
}

test.each(['/ui', '/ui/', '/ui/index.html', '/ui/default_tenant/deployments/app-1.2/nodes?a=b', '/ui/a//b'])(
  '%s is the page',
  async (path) => {
    const { status, headers, body } = await ask(path);
    expect([status, body.toString()]).toEqual([200, INDEX]);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'x-fixed': 'yes',
    });
  },
);

test('its policy allows nothing but its own files, and no frame', async () => {
  const { headers } = await ask('/ui/');
  expect(String(headers['content-security-policy']).split(';')).toEqual([
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "worker-src 'self'",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ]);
  expect(headers).toMatchObject({
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  });
});

test('an asset is kept for ever, in the best form that the client takes', async () => {
  const best = await ask('/ui/assets/main-abc.js', { 'accept-encoding': 'gzip, deflate, br' });
  expect(best.headers).toMatchObject({
    'cache-control': 'public, max-age=31536000, immutable',
    'content-encoding': 'br',
    'content-type': 'text/javascript; charset=utf-8',
    vary: 'accept-encoding',
  });
  expect(brotliDecompressSync(best.body).toString()).toBe(SCRIPT);
  const gzip = await ask('/ui/assets/main-abc.js', { 'accept-encoding': 'br;q=0, gzip;q=0.5' });
  expect(gzip.headers['content-encoding']).toBe('gzip');
  const plain = await ask('/ui/assets/main-abc.js');
  expect(plain.headers['content-encoding']).toBeUndefined();
  expect(plain.body.toString()).toBe(SCRIPT);
});

test('who has it gets 304, and the etag belongs to the form', async () => {
  const { headers } = await ask('/ui/assets/main-abc.js', { 'accept-encoding': 'br' });
  const again = { 'accept-encoding': 'br', 'if-none-match': `"other", W/${headers.etag}` };
  const { status, body, headers: kept } = await ask('/ui/assets/main-abc.js', again);
  expect([status, body.length, kept.etag]).toEqual([304, 0, headers.etag]);
  expect((await ask('/ui/assets/main-abc.js', { 'if-none-match': headers.etag! })).status).toBe(200);
});

test('HEAD has the headers and no body', async () => {
  const { status, headers, body } = await ask('/ui/favicon.svg', {}, 'HEAD');
  expect([status, headers['content-length'], headers['content-type'], body.length]).toEqual([
    200,
    '6',
    'image/svg+xml',
    0,
  ]);
});

test('an asset that is gone is no page: a browser would read it as a script', async () => {
  const { status, headers } = await ask('/ui/assets/main-old.js');
  expect([status, headers['content-type']]).toEqual([404, 'text/plain; charset=utf-8']);
  expect(headers['cache-control']).toBe('no-store');
});

test.each([
  '/ui/../secret.txt',
  '/ui/assets/../../secret.txt',
  '/ui/assets/%2e%2e/%2e%2e/secret.txt',
  '/ui/..%5csecret.txt',
  '/ui/assets/main-abc.js%00',
  '/ui/%ff',
  '/ui/assets/main-abc.js.br/',
])('%s leads nowhere else', async (path) => {
  const { status, body } = await ask(path);
  expect([200, 404]).toContain(status);
  expect(body.toString()).not.toContain('outside');
  expect(status === 404 || body.toString() === INDEX).toBe(true);
});

test('without a build the page says so in plain words, until there is one', async () => {
  const later = join(dir, 'later');
  const serve = createConsoleFiles(undefined, () => later);
  const other = createServer(serve).listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  const { port } = other.address() as AddressInfo;
  try {
    const before = await fetch(`http://127.0.0.1:${port}/ui/x`);
    expect(before.status).toBe(503);
    expect(await before.text()).toContain('The console is not built');
    mkdirSync(later);
    writeFileSync(join(later, 'index.html'), INDEX);
    expect((await fetch(`http://127.0.0.1:${port}/ui/x`)).status).toBe(200);
  } finally {
    other.close();
  }
});

test('only /ui and what is below it is the console', () => {
  expect(['/ui', '/ui/', '/ui/a'].every(isConsolePath)).toBe(true);
  expect(['/', '/uix', '/api/v3.1/ui', '/UI'].some(isConsolePath)).toBe(false);
});
