import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createPlainReads, type PlainReads } from './plain-reads';

let server: Server;
let reads: PlainReads;
/** What the service does with each request, and the sockets it was asked on. */
let answer: (socket: Socket, request: string) => void;
let sockets: Set<Socket>;
const LIMITS = { connections: 2, connectMs: 1_000, answerMs: 500, idleMs: 1_000 };

beforeEach(async () => {
  sockets = new Set();
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (data) => answer(socket, data.toString('latin1')));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  reads = createPlainReads({ origin: `http://127.0.0.1:${port}`, ...LIMITS });
});
afterEach(async () => {
  reads.close();
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

interface Got {
  status: number;
  headers: string[];
  body: Buffer;
  ended: 'complete' | 'other' | Error;
}

/** One read; `isSlow` takes nothing until it is told to, piece by piece. */
function get(path = '/x', headers: string[] = [], isSlow = false) {
  const pieces: Buffer[] = [];
  let resume = (): void => undefined;
  let giveUp: (reason: Error) => void = () => undefined;
  const done = new Promise<Got>((resolve) => {
    const got: Got = { status: 0, headers: [], body: Buffer.alloc(0), ended: 'complete' };
    // After the last piece of a slow reader.
    const end = (ended: Got['ended']) =>
      void setImmediate(() => resolve({ ...got, body: Buffer.concat(pieces), ended }));
    giveUp = reads.get(path, headers, {
      onHead(status, given, go) {
        Object.assign(got, { status, headers: given });
        resume = go;
      },
      onBytes(bytes, written) {
        if (!isSlow) {
          pieces.push(Buffer.from(bytes));
          written();
          return true;
        }
        // Its bytes must stay what they were until they are written.
        setImmediate(() => {
          pieces.push(Buffer.from(bytes));
          written();
          resume();
        });
        return false;
      },
      onComplete: () => end('complete'),
      onOther: () => end('other'),
      onError: end,
    });
  });
  return { done, giveUp: (reason: Error) => giveUp(reason) };
}

const ok = (body: string, more = '') =>
  `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n${more}\r\n${body}`;

test('sends what was given and answers head and body, over one connection again and again', async () => {
  let sent = '';
  answer = (socket, request) => {
    sent = request;
    socket.write(ok('hello', 'X-One: a\r\nx-one: b\r\n'));
  };
  for (let i = 0; i < 3; i++) {
    const got = await get('/a?b=%20', ['x-baton-principal', 'p', 'accept', '*/*']).done;
    expect(got).toMatchObject({ status: 200, ended: 'complete' });
    expect(got.headers).toEqual(['content-length', '5', 'x-one', 'a', 'x-one', 'b']);
    expect(got.body.toString()).toBe('hello');
  }
  expect(sent).toMatch(
    /^GET \/a\?b=%20 HTTP\/1\.1\r\nhost: 127\.0\.0\.1:\d+\r\nx-baton-principal: p\r\naccept: \*\/\*\r\n\r\n$/,
  );
  expect(sockets.size).toBe(1);
});

test.each([1, 2, 17, 1_000])('an answer in pieces of %i bytes is the same', async (size) => {
  const text = ok('x'.repeat(3_000), 'a: b\r\n');
  answer = (socket) => {
    const send = (at: number): void => {
      if (at < text.length) socket.write(text.slice(at, at + size), () => send(at + size));
    };
    send(0);
  };
  expect(await get().done).toMatchObject({
    status: 200,
    ended: 'complete',
    headers: ['content-length', '3000', 'a', 'b'],
  });
});

test('large answers to many, fast and slow, stay theirs though buffers are used again', async () => {
  answer = (socket, request) => {
    const letter = /GET \/(.)/.exec(request)![1]!;
    socket.write(ok(letter.repeat(2_000_000)));
  };
  const asked = [...'abcdefghijkl'].map(async (letter, i) => {
    const { body, ended } = await get(`/${letter}`, [], i % 2 === 0).done;
    return ended === 'complete' && body.equals(Buffer.alloc(2_000_000, letter));
  });
  expect(await Promise.all(asked)).toEqual(Array(12).fill(true));
  // More than there are connections: the others waited in line.
  expect(sockets.size).toBe(LIMITS.connections);
});

test.each([
  ['204', 'HTTP/1.1 204 No Content\r\n\r\n'],
  ['304', 'HTTP/1.1 304 Not Modified\r\netag: "x"\r\n\r\n'],
  ['an empty body', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'],
])('%s has no body', async (_name, text) => {
  answer = (socket) => socket.write(text);
  const got = await get().done;
  expect([got.ended, got.body.length]).toEqual(['complete', 0]);
  expect((await get().done).ended).toBe('complete');
  expect(sockets.size).toBe(1);
});

test.each([
  ['chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n'],
  ['no length', 'HTTP/1.1 200 OK\r\n\r\nx'],
  ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx'],
  ['another version', 'HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n'],
  ['an early hint', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
  ['a folded header', 'HTTP/1.1 200 OK\r\na: b\r\n c\r\ncontent-length: 0\r\n\r\n'],
])('%s: is for the general way, with nothing passed on', async (_name, text) => {
  answer = (socket) => socket.write(text);
  expect(await get().done).toMatchObject({ ended: 'other', status: 0 });
});

test('a connection is not used again after "close", nor with bytes left over', async () => {
  answer = (socket) => socket.write(ok('a', 'connection: close\r\n'));
  await get().done;
  await get().done;
  expect(sockets.size).toBe(2);
  answer = (socket) => socket.write(`${ok('a')}HTTP/1.1 200 OK\r\n`);
  expect((await get().done).ended).toBeInstanceOf(Error);
});

test.each([
  ['before the head', ''],
  ['in the head', 'HTTP/1.1 200 OK\r\ncontent-le'],
  ['in the body', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nxx'],
])('a service that dies %s is an error', async (_name, text) => {
  answer = (socket) => socket.end(text);
  expect((await get().done).ended).toMatchObject({ code: 'ECONNRESET' });
});

test('silence is an error, and who gave up is told so at once, at work or in line', async () => {
  answer = () => undefined;
  const [first, second, third] = [get(), get(), get()];
  third.giveUp(new Error('left'));
  expect((await third.done).ended).toEqual(new Error('left'));
  second.giveUp(new Error('left too'));
  expect((await second.done).ended).toEqual(new Error('left too'));
  expect((await first.done).ended).toMatchObject({ code: 'UND_ERR_HEADERS_TIMEOUT' });
});

test.each([
  ['/a b', []],
  ['/a\r\nx: y', []],
  ['/a', ['x', 'a\r\nb: c']],
  ['/a', ['x', 'a\u0000']],
])('%j %j does not reach the service', (path, headers) => {
  answer = (socket) => socket.write(ok('a'));
  return expect(get(path, headers).done).rejects.toMatchObject({ code: 'UND_ERR_INVALID_ARG' });
});
