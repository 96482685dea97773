import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { HttpApp } from '@baton/http';
import { silentLog } from '@baton/kernel';
import { withPlainPaths } from './raw-http';

let app: HttpApp;
let port: number;
beforeAll(async () => {
  app = withPlainPaths((_request, response) => void response.end('handled'), {}, silentLog);
  port = await app.listen('127.0.0.1', 0);
});
afterAll(async () => await app.close());

/** Sends bytes to the server and returns its answer. */
async function answerTo(sent: string): Promise<{ status: number; body: unknown }> {
  const socket = connect(port, '127.0.0.1');
  socket.write(sent);
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
  expect(head).toContain('content-type: application/json');
  return { status: Number(head.split(' ')[1]), body: JSON.parse(body) };
}

test.each([
  ['an address that is too long', `GET /${'x'.repeat(40_000)} HTTP/1.1\r\n\r\n`, 431],
  ['a megabyte of headers', `GET / HTTP/1.1\r\n${`x: ${'y'.repeat(1_000)}\r\n`.repeat(1_000)}\r\n`, 431],
  ['what is no HTTP', 'rubbish\r\n\r\n', 400],
])('%s is refused as JSON', async (_what, sent, status) => {
  expect(await answerTo(sent)).toEqual({
    status,
    body: {
      message: expect.any(String),
      expected: expect.any(String),
      error_code: 'bad_parameters_error',
      server_traceback: null,
    },
  });
});

test('headers that never end, and a client that says nothing, are not waited for', async () => {
  const impatient = withPlainPaths((_request, response) => void response.end(), {}, silentLog, {
    headersTimeoutMs: 200,
  });
  const at = await impatient.listen('127.0.0.1', 0);
  const answers = ['GET / HTTP/1.1\r\nhost: x\r\nx: ', ''].map(async (sent) => {
    const socket = connect(at, '127.0.0.1');
    socket.write(sent);
    return await text(socket);
  });
  for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1.1 408 /);
  await impatient.close();
});

describe('a handler that fails', () => {
  const logged: string[] = [];
  const log = { ...silentLog, error: (_fields: object, message: string) => void logged.push(message) };
  let failing: HttpApp;
  let origin: string;
  beforeAll(async () => {
    failing = withPlainPaths(
      (request, response) => {
        if (request.url === '/late') {
          response.end('ended');
          response.write('more');
          return;
        }
        response.setHeader('x-half', 'set');
        throw new Error('a file is missing');
      },
      { '/plain': () => Promise.reject(new Error('no metrics')) },
      log,
    );
    origin = `http://127.0.0.1:${await failing.listen('127.0.0.1', 0)}`;
  });
  afterAll(async () => await failing.close());

  test('is answered 500 as JSON and logged once, and the next request is answered', async () => {
    for (let nth = 1; nth <= 2; nth++) {
      const answer = await fetch(`${origin}/any`);
      expect([answer.status, answer.headers.get('x-half')]).toEqual([500, null]);
      expect(await answer.json()).toMatchObject({ error_code: 'internal_server_error' });
      expect(logged).toHaveLength(nth);
    }
  });

  test('neither a write after the end nor a plain path that fails ends the process', async () => {
    expect(await (await fetch(`${origin}/late`)).text()).toBe('ended');
    expect((await fetch(`${origin}/plain`)).status).toBe(500);
    expect((await fetch(`${origin}/any`)).status).toBe(500);
  });
});
