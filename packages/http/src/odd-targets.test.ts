// Request targets that no HTTP client sends. Express looks for the path in them before any of our handlers is called.
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { silentLog } from '@baton/kernel';
import { derivedTrust } from '@baton/trust';
import { createHttpApp, type HttpApp } from './index';
import { key } from './testing/ann';

let app: HttpApp;
let port: number;
beforeAll(async () => {
  app = createHttpApp({
    service: 'catalog',
    routes: [],
    trust: derivedTrust('catalog', key),
    log: silentLog,
    wire: 'spec',
    plain: { '/healthz': async () => ({ status: 200, contentType: 'text/plain', body: 'ok' }) },
  });
  port = await app.listen('127.0.0.1', 0);
});
afterAll(() => app.close());

async function ask(target: string, method = 'GET'): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`${method} ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
  return text(socket);
}

test.each([
  ['http://[x', 400],
  ['http://x:99999/healthz', 404],
  ['http://x/healthz', 404],
  ['//x/healthz', 404],
  ['/healthz#a', 404],
  ['/%', 400],
  ['/a\u0001', 400],
])('%s is answered %i, and the next request too', async (target, status) => {
  const answer = await ask(target);
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(answer).toMatch(/"error_code":"\w+"/);
  expect(await ask('/healthz')).toMatch(/^HTTP\/1\.1 200 /);
});

test('an asterisk is a path that is not there', async () => {
  expect(await ask('*', 'OPTIONS')).toMatch(/^HTTP\/1\.1 404 /);
});
