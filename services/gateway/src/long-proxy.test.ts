import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { silentLog } from '@baton/kernel';
import { eventually } from '@baton/testkit';
import type { ForwardRequest } from './forward';
import { createLongProxy, type LongProxy } from './long-proxy';

/** Long-lived requests: streams, uploads and downloads through http-proxy-middleware. */

const MAX_BYTES = 300_000;
const open: Server[] = [];
let proxy: LongProxy | undefined;

const listening = async (server: Server): Promise<number> => {
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};

afterEach(async () => {
  proxy?.close();
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** Starts a gateway in front of `service`; `headers`: the headers that the service receives. */
async function inFront(service: RequestListener, headers: string[] = [], answerMs = 5_000): Promise<number> {
  const origin = `http://127.0.0.1:${await listening(createServer(service))}`;
  const warned: string[] = [];
  const log = { ...silentLog, warn: (_fields: object, message: string) => void warned.push(message) };
  const long = createLongProxy({
    origin,
    service: 'catalog',
    log,
    tls: null,
    connectMs: 2_000,
    keepAliveMs: 1_000,
    answerMs,
  });
  proxy = long;
  const gateway = createServer((incoming, response) => {
    response.on('error', () => undefined);
    const isChunked = incoming.headers['transfer-encoding'] !== undefined;
    const request: ForwardRequest = {
      service: 'catalog',
      method: incoming.method!,
      url: '/api/v3.1/uploads/x',
      headers,
      answerHeaders: ['x-request-id', 'ours'],
      unlessSaid: ['cache-control', 'no-store'],
      body: isChunked ? 'chunked' : incoming.headers['content-length'] ? 'sized' : 'none',
      maxBodyBytes: MAX_BYTES,
      isComing: false,
      isLong: true,
    };
    long.forward(request, incoming, response, (error) => {
      response.writeHead(error.entry.http).end(error.code);
    });
  });
  return listening(gateway);
}

const ask = (port: number, o: { method?: string; headers?: Record<string, string> } = {}) =>
  httpRequest({ port, host: '127.0.0.1', path: '/anything', agent: false, ...o });
const answerOf = async (sent: ReturnType<typeof ask>): Promise<IncomingMessage> =>
  (await once(sent, 'response'))[0] as IncomingMessage;

test('the service sees our headers and nothing of the client, the client nothing of the connection behind', async () => {
  const seen: NodeJS.Dict<string | string[]>[] = [];
  const port = await inFront(
    (request, response) => {
      seen.push({ ...request.headers, url: request.url });
      response.writeHead(200, {
        'x-request-id': 'theirs',
        'x-baton-packed': '9',
        'keep-alive': 'timeout=9',
        etag: '"a"',
        'set-cookie': ['a=1', 'b=2'],
      });
      response.end('hello');
    },
    ['x-baton-principal', 'signed', 'accept', 'a/b', 'accept', 'c/d'],
  );
  const sent = ask(port, {
    headers: { authorization: 'secret', 'x-baton-principal': 'forged', cookie: 'c=1' },
  });
  sent.end();
  const answer = await answerOf(sent);
  expect(await text(answer)).toBe('hello');
  expect(seen).toEqual([
    {
      host: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      connection: 'keep-alive',
      'x-baton-principal': 'signed',
      accept: 'a/b, c/d',
      url: '/api/v3.1/uploads/x',
    },
  ]);
  expect(answer.headers).toMatchObject({
    'x-request-id': 'ours',
    'cache-control': 'no-store',
    etag: '"a"',
    'set-cookie': ['a=1', 'b=2'],
    connection: 'close',
  });
  expect(answer.headers).not.toHaveProperty('x-baton-packed');
});

test.each([
  ['of a known length', { 'content-length': '200000' }],
  ['in chunks', { 'transfer-encoding': 'chunked' }],
])('a body %s passes whole', async (_what, headers) => {
  const port = await inFront(async (request, response) => {
    let bytes = 0;
    for await (const chunk of request) bytes += chunk.length;
    response.end(String(bytes));
  });
  const sent = ask(port, { method: 'PUT', headers });
  sent.write('x'.repeat(100_000));
  sent.end('x'.repeat(100_000));
  expect(await text(await answerOf(sent))).toBe('200000');
});

test('chunks beyond the limit are refused, and the client reads why although it sends first', async () => {
  let received = 0;
  const port = await inFront((request) => {
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => {
      received += chunk.length;
    });
  });
  const socket = connect(port, '127.0.0.1');
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
  socket.write(
    `PUT / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n${chunk.repeat(40)}0\r\n\r\n`,
  );
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 413 [\s\S]*payload_too_large_error/);
  expect(received).toBeLessThanOrEqual(MAX_BYTES + 0x10000);
});

test('a service that answers before it has read the body is heard', async () => {
  const port = await inFront((_request, response) => void response.writeHead(409).end('taken'));
  const sent = ask(port, { method: 'PUT', headers: { 'content-length': '5000000' } });
  sent.on('error', () => undefined);
  sent.end(Buffer.alloc(5_000_000));
  const answer = await answerOf(sent);
  expect([answer.statusCode, await text(answer)]).toEqual([409, 'taken']);
});

test('events pass as they happen, and a client that leaves takes its request along', async () => {
  let isGone = false;
  const port = await inFront((request, response) => {
    request.on('close', () => {
      isGone = true;
    });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: 1\n\n');
  });
  const sent = ask(port);
  sent.on('error', () => undefined);
  sent.end();
  const answer = await answerOf(sent);
  expect(String((await once(answer, 'data'))[0])).toBe('data: 1\n\n');
  expect(isGone).toBe(false);
  answer.destroy();
  await eventually(() => isGone);
});

test('an answer that breaks off is a broken connection, not a short answer', async () => {
  const port = await inFront((_request, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('half');
    setImmediate(() => response.destroy());
  });
  const sent = ask(port);
  sent.end();
  await expect(text(await answerOf(sent))).rejects.toThrow();
});

test('a service that is silent is given up, one that closes or cannot be reached is 503', async () => {
  const silent = await inFront(() => undefined, [], 100);
  const first = ask(silent);
  first.end();
  expect((await answerOf(first)).statusCode).toBe(504);
  const closing = await inFront((request) => void request.socket.destroy());
  const second = ask(closing, { method: 'PUT', headers: { 'content-length': '3' } });
  second.end('abc');
  const answer = await answerOf(second);
  expect([answer.statusCode, await text(answer)]).toEqual([503, 'service_unavailable_error']);
});

test('a read on a connection that the service has just closed is asked once more', async () => {
  let asked = 0;
  const port = await inFront((request, response) => {
    asked += 1;
    // The second request is sent on the connection of the first, which breaks during it.
    if (asked === 2) request.socket.destroy();
    else response.end('answered');
  });
  for (let nth = 0; nth < 2; nth++) {
    const sent = ask(port);
    sent.end();
    expect(await text(await answerOf(sent))).toBe('answered');
  }
  expect(asked).toBe(3);
});
